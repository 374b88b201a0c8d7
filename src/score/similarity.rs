//! How near two vectors are.

/// Lanes of the sum: independent partial sums let the compiler use vector registers.
const LANES: usize = 16;

/// The sum of the products of two vectors; what one has beyond the other's length is left out.
#[must_use]
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (left_chunks, right_chunks) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let tail: f32 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (left, right) in left_chunks.zip(right_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(left).zip(right) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + tail
}

/// Cosine of the angle between two vectors, −1 to 1; 0 where one of them is all zeros.
///
/// # Source
/// a·b / (|a| |b|). Zero stands in for the undefined case, so that a text which means nothing is near to nothing.
#[must_use]
pub fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let norms = dot(left, left).sqrt() * dot(right, right).sqrt();
    if norms > 0.0 { (dot(left, right) / norms).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Scales a vector to length 1; all zeros stay.
pub fn normalize(vector: &mut [f32]) {
    // Scaling by the largest number first keeps the squares inside the range of f32.
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if largest <= 0.0 || !largest.is_finite() {
        return;
    }
    vector.iter_mut().for_each(|number| *number /= largest);
    let norm = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|number| *number /= norm);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_of_known_angles() {
        for (left, right, expected) in [
            (vec![1.0, 0.0], vec![0.6, 0.8], 0.6),
            (vec![2.0, 0.0], vec![-3.0, 0.0], -1.0),
            (vec![0.0, 0.0], vec![1.0, 0.0], 0.0),
        ] {
            assert!((cosine(&left, &right) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn a_long_vector_sums_all_its_numbers() {
        let ones = vec![1.0; 37];
        assert!((dot(&ones, &ones) - 37.0).abs() < 1e-6);
    }

    #[test]
    fn huge_and_tiny_vectors_become_length_one() {
        for scale in [1e-30_f32, 1e30] {
            let mut vector = vec![3.0 * scale, 4.0 * scale];
            normalize(&mut vector);
            assert!((cosine(&vector, &[0.6, 0.8]) - 1.0).abs() < 1e-6 && (dot(&vector, &vector) - 1.0).abs() < 1e-6);
        }
    }
}
