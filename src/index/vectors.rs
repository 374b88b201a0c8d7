//! The vectors of one scope: a matrix of one-byte codes that every search reads whole, and the rows themselves for the
//! few whose place the codes leave open.

use crate::score::similarity;

/// Codes of a row are worked off in blocks of this many: a length known beforehand becomes vector instructions.
const BLOCK: usize = 32;
/// A code is this plus a number of −127 to 127. Unsigned bytes widen in one instruction, signed ones in two.
const ZERO: u8 = 128;

/// Rows of length 1 (or all zeros), one for each key.
///
/// Codes are of the row turned by [`turn`], which keeps all angles and makes the numbers of a row about equally large. A
/// code is such a number in steps of 1/127 of the row's largest, and beside it stands how far the coded row is from
/// the row: by Cauchy and Schwarz the cosine to a query of length 1 is at most that far from what the codes say. So
/// whatever is sought is found exactly: the codes tell off all but a few rows, whose cosines are then computed.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: usize,
    rows: Vec<f32>,
    /// Each row filled up to whole blocks.
    codes: Vec<u8>,
    steps: Vec<f32>,
    errors: Vec<f32>,
    /// Room for one turned row.
    turned: Vec<f32>,
}

/// A query's vector, ready to be compared.
#[derive(Debug)]
pub(super) struct Asked {
    unit: Vec<f32>,
    /// The same turned, in whole steps.
    numbers: Vec<i16>,
    step: f32,
    /// What [`ZERO`] in every code adds to a sum.
    zero: i32,
    error: f32,
}

impl Vectors {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions: dimensions.max(1), ..Self::default() }
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows * self.dimensions);
        self.codes.reserve(rows * self.width());
        self.steps.reserve(rows);
        self.errors.reserve(rows);
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        debug_assert_eq!(vector.len(), self.dimensions, "stores check the width at the door");
        let (start, first) = (self.rows.len(), self.codes.len());
        self.rows.extend_from_slice(vector);
        let Some(row) = self.rows.get_mut(start..) else { return };
        similarity::normalize(row);
        self.turned.clear();
        self.turned.extend_from_slice(row);
        self.turned.resize(self.dimensions.next_multiple_of(BLOCK), 0.0);
        let row = self.turned.as_mut_slice();
        turn(row);
        let step = largest(row) / 127.0;
        let inverse = if step > 0.0 { step.recip() } else { 0.0 };
        // Adding a half and cutting off rounds in vector instructions, which `round` does not on older processors.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 1 to 255")]
        self.codes.extend(row.iter().map(|number| (number * inverse + f32::from(ZERO) + 0.5) as i32 as u8));
        let codes = self.codes.get(first..).unwrap_or_default();
        self.errors.push(distance(row, codes, step));
        self.steps.push(step);
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of dimensions")]
    pub(super) fn ask(&self, query: &[f32]) -> Asked {
        let mut unit = query.to_vec();
        similarity::normalize(&mut unit);
        // As fine as sums of products with codes stay within an i32.
        let most = (f32::from(i16::MAX)).min((i32::MAX / 256) as f32 / self.width() as f32);
        let mut turned = unit.clone();
        turned.resize(self.width(), 0.0);
        turn(&mut turned);
        let step = largest(&turned) / most;
        let inverse = if step > 0.0 { step.recip() } else { 0.0 };
        let mut error = 0.0;
        let mut numbers: Vec<i16> = Vec::with_capacity(self.width());
        numbers.extend(turned.iter().map(|number| {
            let whole = (number * inverse).round();
            error += (number - whole * step).powi(2);
            #[expect(clippy::cast_possible_truncation, reason = "it is at most `most`")]
            let whole = whole as i16;
            whole
        }));
        let zero = i32::from(ZERO) * numbers.iter().map(|number| i32::from(*number)).sum::<i32>();
        // What rounding adds in the sums of f32, the exact ones and those of the turns included.
        let rounding = 4e-6 + 1.2e-7 * self.dimensions as f32;
        Asked { unit, numbers, step, zero, error: error.sqrt() + rounding }
    }

    /// The most that the cosine of each row to the query can be, in row order.
    #[expect(clippy::cast_precision_loss, reason = "the rounding is part of the error")]
    pub(super) fn most(&self, asked: &Asked, most: &mut Vec<f32>) {
        let (numbers, _) = asked.numbers.as_chunks::<BLOCK>();
        let rows = self.codes.chunks_exact(self.width()).zip(&self.steps).zip(&self.errors);
        most.clear();
        most.extend(rows.map(|((codes, step), error)| {
            let mut sum = 0_i32;
            for (codes, numbers) in codes.as_chunks::<BLOCK>().0.iter().zip(numbers) {
                sum += products(codes, numbers);
            }
            (sum - asked.zero) as f32 * (asked.step * step) + (error + asked.error)
        }));
    }

    /// The least it can be, where this is the most.
    pub(super) fn least(&self, asked: &Asked, row: usize, most: f32) -> f32 {
        most - 2.0 * (self.errors.get(row).copied().unwrap_or(0.0) + asked.error)
    }

    /// The cosine of a row to the query.
    pub(super) fn cosine(&self, asked: &Asked, row: usize) -> f32 {
        let start = row * self.dimensions;
        let row = self.rows.get(start..start + self.dimensions).unwrap_or_default();
        similarity::dot(row, &asked.unit).clamp(-1.0, 1.0)
    }

    pub(super) fn shrink(&mut self) {
        let Self { dimensions: _, rows, codes, steps, errors, turned: _ } = self;
        rows.shrink_to_fit();
        codes.shrink_to_fit();
        steps.shrink_to_fit();
        errors.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.capacity() + 4 * (self.rows.capacity() + self.steps.capacity() + self.errors.capacity())
    }

    const fn width(&self) -> usize {
        self.dimensions.next_multiple_of(BLOCK)
    }
}

/// Turns each block of a vector by the same angles: half of the signs are changed, then every number becomes a sum or
/// difference of all 32. Lengths and cosines stay; a number that stood out is spread, and codes, whose steps follow the
/// largest number, err less by half and tell off twice as many.
///
/// # Source
/// The randomized Hadamard transform, as in Ailon and Chazelle, "The Fast Johnson–Lindenstrauss Transform", 2009, with
/// blocks of the codes' length and signs that are the same for all.
fn turn(vector: &mut [f32]) {
    /// Digits of π in binary: no regular vector has their pattern.
    const SIGNS: u32 = 0x243f_6a88;
    /// 1/√32
    const SCALE: f32 = 0.176_776_7;
    let (blocks, _) = vector.as_chunks_mut::<BLOCK>();
    for block in blocks {
        for (at, number) in block.iter_mut().enumerate() {
            *number *= if SIGNS >> at & 1 == 1 { -SCALE } else { SCALE };
        }
        step::<16>(block);
        step::<8>(block);
        step::<4>(block);
        step::<2>(block);
        step::<1>(block);
    }
}

/// Of each two numbers at this distance the sum and the difference.
#[inline]
fn step<const DISTANCE: usize>(block: &mut [f32; BLOCK]) {
    for pair in block.chunks_exact_mut(2 * DISTANCE) {
        let (left, right) = pair.split_at_mut(DISTANCE);
        for (one, other) in left.iter_mut().zip(right) {
            (*one, *other) = (*one + *other, *one - *other);
        }
    }
}

#[inline]
fn products(codes: &[u8; BLOCK], numbers: &[i16; BLOCK]) -> i32 {
    // A sum of its own for each block, or the compiler does not see that pairs can be multiplied and added at once.
    let mut sum = 0_i32;
    for (code, number) in codes.iter().zip(numbers) {
        sum += i32::from(*code) * i32::from(*number);
    }
    sum
}

/// How far the coded row is from the row.
fn distance(row: &[f32], codes: &[u8], step: f32) -> f32 {
    let mut sums = [0.0_f32; BLOCK];
    for (numbers, codes) in row.chunks(BLOCK).zip(codes.chunks(BLOCK)) {
        for ((sum, number), code) in sums.iter_mut().zip(numbers).zip(codes) {
            let rest = number - step * (f32::from(*code) - f32::from(ZERO));
            *sum += rest * rest;
        }
    }
    sums.iter().sum::<f32>().sqrt()
}

fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()))
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing look-up is a failing test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cosine_is_within_what_the_codes_say(
            (rows, query) in (1..70_usize).prop_flat_map(|dimensions| {
                let row = move || prop::collection::vec(prop_oneof![-1.0..1.0_f32, Just(0.0), Just(100.0)], dimensions);
                (prop::collection::vec(row(), 1..20), row())
            })
        ) {
            let mut vectors = Vectors::new(query.len());
            rows.iter().for_each(|row| vectors.push(row));
            let asked = vectors.ask(&query);
            let mut most = Vec::new();
            vectors.most(&asked, &mut most);
            assert_eq!(most.len(), rows.len());
            for (number, row) in rows.iter().enumerate() {
                let exact = similarity::cosine(row, &query);
                assert!((vectors.cosine(&asked, number) - exact).abs() < 1e-5);
                let least = vectors.least(&asked, number, most[number]);
                assert!(least <= exact && exact <= most[number], "{least} {exact} {}", most[number]);
                assert!(most[number] - least < 0.15, "a bound that tells nothing off");
            }
        }
    }

    #[test]
    fn wide_vectors_stay_within_the_sums() {
        for dimensions in [257, 1_536, 4_096] {
            let mut vectors = Vectors::new(dimensions);
            vectors.push(&vec![1.0; dimensions]);
            vectors.push(&vec![-1.0; dimensions]);
            let asked = vectors.ask(&vec![1.0; dimensions]);
            let mut most = Vec::new();
            vectors.most(&asked, &mut most);
            assert!((most[0] - 1.0).abs() < 0.01 && (most[1] + 1.0).abs() < 0.01, "{dimensions}: {most:?}");
        }
    }
}
