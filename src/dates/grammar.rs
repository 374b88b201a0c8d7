//! The one grammar of all languages: patterns held against tokens.

use super::{
    calendar::Unit,
    lexicon::{Classes, Doubt, ENDINGS, Element, Lexicon, Role, Row, Sense, takes_digits},
    numeric,
    resolve::{Bound, Period, Year},
    table::{Class, Make},
    token::{Kind, Token, tokens},
};

/// A pattern that was matched, from a token to just before another.
#[derive(Debug)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) period: Period,
    /// `None` for digits alone.
    pub(super) language: Option<usize>,
}

/// A text that is read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) tokens: Vec<Token>,
    /// Whether it looks ahead.
    pub(super) ahead: bool,
    /// The language it is in, by its frequent words; `None` where that is not clear.
    language: Option<usize>,
    lexicon: &'static Lexicon,
    /// What its tokens may fill: most patterns are told off by that.
    classes: Classes,
}

impl Reading {
    pub(super) fn new(text: &str) -> Self {
        let lexicon = Lexicon::get();
        let tokens = tokens(text, &lexicon.known);
        let ahead = tokens.iter().any(|token| {
            // A capital makes it a name ("Will"), unless it begins the text.
            (!token.capital || token.start == 0) && lexicon.with_role(token.word, Role::Ahead).next().is_some()
        });
        let mut counts: Vec<usize> = Vec::new();
        for language in tokens.iter().flat_map(|token| lexicon.with_role(token.word, Role::Hint)) {
            if counts.len() <= language {
                counts.resize(language + 1, 0);
            }
            if let Some(count) = counts.get_mut(language) {
                *count += 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let mut best = counts.iter().enumerate().filter(|(_, count)| most > 0 && **count == most);
        let language = best.next().map(|(language, _)| language).filter(|_| best.next().is_none());
        let mut classes = Classes::default();
        for token in tokens.iter().filter(|token| token.kind == Kind::Number || !token.word.is_empty()) {
            classes.add_token(token, lexicon.senses.get(token.word).map_or(&[], Vec::as_slice));
        }
        Self { tokens, ahead, language, lexicon, classes }
    }

    /// The times of the text, first to last, none over another.
    pub(super) fn matches(&self) -> impl Iterator<Item = Match> {
        self.scan(|at| {
            let found = self.simple(at, None);
            if found.is_empty() {
                self.best(self.compound(at, false))
            } else {
                self.best(found.into_iter().chain(self.compound(at, true)))
            }
        })
    }

    /// The same, without what holds another time ("since", "before").
    pub(super) fn simple_matches(&self) -> impl Iterator<Item = Match> {
        self.scan(|at| self.best(self.simple(at, None)))
    }

    fn scan(&self, find: impl Fn(usize) -> Option<Match>) -> impl Iterator<Item = Match> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < self.tokens.len() {
                if let Some(found) = find(at) {
                    at = found.end.max(at + 1);
                    return Some(found);
                }
                at += 1;
            }
            None
        })
    }

    /// The patterns with a period in them that fit at a token, where one may begin with a period if `after_period`.
    fn compound(&self, at: usize, after_period: bool) -> impl Iterator<Item = Match> {
        let starting = self.tokens.get(at).map_or(&[][..], |token| self.lexicon.starting(token));
        let rows = starting.iter().chain(self.lexicon.period_starts.iter().filter(move |_| after_period));
        let rows = rows.filter_map(|row| self.lexicon.rows.get(*row)).filter(|row| row.compound);
        rows.filter_map(move |row| self.matched(row, at))
    }

    /// The longest that stands alone; of equally long ones that of the text's own language.
    fn best(&self, found: impl IntoIterator<Item = Match>) -> Option<Match> {
        let rank = |found: &Match| (found.end, found.language.is_none() || found.language == self.language);
        found
            .into_iter()
            .filter(|found| self.stands_alone(found))
            .reduce(|best, other| if rank(&other) > rank(&best) { other } else { best })
    }

    /// The patterns without another period in them that fit at a token.
    fn simple(&self, at: usize, language: Option<usize>) -> Vec<Match> {
        let Some(token) = self.tokens.get(at) else { return Vec::new() };
        let rows = self.lexicon.starting(token).iter().filter_map(|row| self.lexicon.rows.get(*row));
        let rows = rows.filter(|row| !row.compound && language.is_none_or(|language| row.language == language));
        let mut found: Vec<Match> = rows.filter_map(|row| self.matched(row, at)).collect();
        if token.kind == Kind::Number
            && let Some((end, given)) = numeric::date(&self.tokens, at)
        {
            let period = Period { bound: Bound { given, ..Bound::default() }, make: Make::Named };
            found.push(Match { start: at, end, period, language: None });
        }
        found
    }

    fn matched(&self, row: &Row, at: usize) -> Option<Match> {
        if !self.classes.holds(row.needs) {
            return None;
        }
        if (row.own_text && self.language != Some(row.language)) || (row.looks_ahead && !self.ahead) {
            return None;
        }
        // Every pattern with a comma in it has it before a part that may be missing: alone it is no part of a time.
        let is_comma = |at: usize| self.tokens.get(at).is_some_and(|token| token.is(","));
        if is_comma(at) {
            return None;
        }
        let (mut end, bound) = self.elements(row, 0, at, Bound::default())?;
        if end > at && is_comma(end - 1) {
            end -= 1;
        }
        let period = Period { bound, make: row.make };
        (end > at).then_some(Match { start: at, end, period, language: Some(row.language) })
    }

    /// Matches the elements of a row from one on; what may be missing is tried both ways.
    fn elements(&self, row: &Row, element: usize, at: usize, bound: Bound) -> Option<(usize, Bound)> {
        let Some((this, optional)) = row.elements.get(element) else { return Some((at, bound)) };
        let taken = match this {
            Element::Words(runs) => {
                let fits = |run: &&Vec<String>| self.has(at, run);
                let longest = runs.iter().filter(fits).map(Vec::len).max();
                longest.and_then(|length| self.elements(row, element + 1, at + length, bound.clone()))
            }
            Element::Slot(class) => {
                let mut filled = bound.clone();
                let end = self.fill(row, *class, at, &mut filled);
                end.and_then(|end| self.elements(row, element + 1, end, filled))
            }
        };
        taken.or_else(|| optional.then(|| self.elements(row, element + 1, at, bound)).flatten())
    }

    fn has(&self, at: usize, run: &[String]) -> bool {
        !run.is_empty()
            && run.iter().zip(at..).all(|(word, at)| self.tokens.get(at).is_some_and(|token| token.is(word)))
    }

    /// Fills a slot with what stands at a token, and says where that ends.
    fn fill(&self, row: &Row, class: Class, at: usize, bound: &mut Bound) -> Option<usize> {
        if class == Class::Period {
            let found = self.simple(at, Some(row.language)).into_iter().max_by_key(|found| found.end)?;
            bound.periods.push(found.period);
            return Some(found.end);
        }
        let token = self.tokens.get(at)?;
        let number = token.number.and_then(|number| i32::try_from(number).ok()).filter(|_| takes_digits(class));
        let (value, mut end, in_digits) = match number {
            Some(number) => ((number, number), at + 1, true),
            None => {
                let (value, end) = self.worded(row, class, at)?;
                (value, end, false)
            }
        };
        if class == Class::Day && in_digits {
            end = self.after_ordinal(end);
        }
        let within = |low: i32, high: i32| (low..=high).contains(&value.0).then_some(value.0);
        let small = |high: i32| within(1, high).and_then(|value| u32::try_from(value).ok());
        match class {
            Class::Count => {
                // Four digits are a year, or no number that anybody counts units with.
                within(1, 999)?;
                bound.count = Some(value);
            }
            Class::Unit => bound.unit = Some(Unit::new(value.0)?),
            Class::Month | Class::NumberedMonth => bound.months.push(small(12)?),
            Class::Day | Class::Ordinal => {
                if token.digits > 2 {
                    return None;
                }
                bound.days.push(small(31)?);
            }
            Class::Year if !in_digits && value.0.abs() < 1000 => bound.years.push(Year::From(value.0)),
            Class::Year | Class::Digits => {
                if in_digits && token.digits != 4 {
                    return None;
                }
                bound.years.push(Year::Is(within(1800, 2199)?));
            }
            Class::WordedYear => bound.years.push(Year::From(value.0)),
            Class::Decade | Class::Tens => {
                let century = match value.0 {
                    10 | 20 => 2000,
                    30..=90 => 1900,
                    1800..=2190 => 0,
                    _ => return None,
                };
                bound.decade = Some(value.0 + century).filter(|year| year % 10 == 0);
                bound.decade?;
            }
            Class::Weekday => bound.weekday = Some(small(7)?),
            Class::Season => bound.season = Some(u32::try_from(value.0).ok()?),
            Class::Shift => bound.shift = Some(value.0),
            Class::Part => bound.part = Some(value.0),
            Class::Quarter => bound.quarter = Some(small(4)?),
            Class::Holiday => bound.holiday = Some(value),
            Class::Period => return None,
        }
        Some(end)
    }

    /// The value of the words of a class at a token, and where they end.
    fn worded(&self, row: &Row, class: Class, at: usize) -> Option<((i32, i32), usize)> {
        // Numbers in words may have parts ("twenty-one", "二十一").
        let in_signs = self.tokens.get(at)?.kind == Kind::Sign;
        let counts = class == Class::Count || (in_signs && matches!(class, Class::NumberedMonth | Class::Day));
        if counts && let Some(found) = self.number(row, at) {
            return Some(found);
        }
        if matches!(class, Class::Year | Class::Digits)
            && let Some(found) = self.year_in_signs(row, at)
        {
            return Some(found);
        }
        let class = if class == Class::WordedYear { Class::Year } else { class };
        self.sense(row, class, at).map(|(sense, end)| (sense.value, end))
    }

    /// The longest phrase of a class at a token.
    fn sense(&self, row: &Row, class: Class, at: usize) -> Option<(&'static Sense, usize)> {
        let token = self.tokens.get(at)?;
        let counts = self.lexicon.senses.get(token.word)?.iter().filter(|sense| {
            let sure = !sense.weak
                || match row.doubt {
                    Doubt::Any => true,
                    Doubt::Capital => token.capital,
                    Doubt::None => false,
                };
            sure && sense.language == row.language && sense.class == class
        });
        counts
            .filter(|sense| sense.rest.is_empty() || self.has(at + 1, &sense.rest))
            .map(|sense| (sense, at + 1 + sense.rest.len()))
            .max_by_key(|(_, end)| *end)
    }

    /// A number in words: one word, tens and ones, or signs.
    fn number(&self, row: &Row, at: usize) -> Option<((i32, i32), usize)> {
        let (first, end) = self.sense(row, Class::Count, at)?;
        let signs = self.tokens.get(at)?.kind == Kind::Sign;
        let is_tens = first.value.0 == first.value.1 && first.value.0 % 10 == 0 && (10..100).contains(&first.value.0);
        let ones = |at: usize| self.sense(row, Class::Count, at).filter(|(ones, _)| (1..10).contains(&ones.value.0));
        // "二十一": two, ten, one.
        if signs
            && (2..10).contains(&first.value.0)
            && let Some((ten, after)) = self.sense(row, Class::Count, end)
            && ten.value == (10, 10)
        {
            let tens = first.value.0 * 10;
            return Some(
                ones(after).map_or(((tens, tens), after), |(one, end)| ((tens + one.value.0, tens + one.value.0), end)),
            );
        }
        if is_tens && (signs || first.value.0 >= 20) {
            let joint = usize::from(self.tokens.get(end).is_some_and(|token| matches!(token.word, "-" | "y")));
            if let Some((one, end)) = ones(end + joint) {
                let sum = first.value.0 + one.value.0;
                return Some(((sum, sum), end));
            }
        }
        Some((first.value, end))
    }

    /// Four signs for the digits of a year.
    fn year_in_signs(&self, row: &Row, at: usize) -> Option<((i32, i32), usize)> {
        let mut year = 0;
        for place in at..at + 4 {
            let token = self.tokens.get(place).filter(|token| token.kind == Kind::Sign)?;
            let digit =
                if token.is("〇") || token.is("零") { 0 } else { self.sense(row, Class::Count, place)?.0.value.0 };
            if !(0..10).contains(&digit) {
                return None;
            }
            year = year * 10 + digit;
        }
        (1800..2200).contains(&year).then_some(((year, year), at + 4))
    }

    /// Where the ending of an ordinal in digits ends ("5th", "5-го", "1er").
    fn after_ordinal(&self, at: usize) -> usize {
        let glued = |at: usize| self.tokens.get(at).filter(|token| token.glued);
        let ends = |at: usize| glued(at).is_some_and(|token| ENDINGS.contains(&token.word));
        if ends(at) {
            at + 1
        } else if glued(at).is_some_and(|token| token.is("-")) && ends(at + 1) {
            at + 2
        } else {
            at
        }
    }

    /// Whether what was matched is a time of its own, and not a piece of a longer word, number, path or price.
    fn stands_alone(&self, found: &Match) -> bool {
        let Some((first, last)) = self.tokens.get(found.start).zip(self.tokens.get(found.end.wrapping_sub(1))) else {
            return false;
        };
        let before = found.start.checked_sub(1).and_then(|at| self.tokens.get(at));
        let after = self.tokens.get(found.end);
        let has_role = |token: Option<&Token>, role: Role| {
            found.language.is_some()
                && token.is_some_and(|token| self.lexicon.with_role(token.word, role).next().is_some())
        };
        if has_role(before, Role::NotAfter) || has_role(after, Role::NotBefore) {
            return false;
        }
        // "32 May 2023" is no May.
        let is_month = self
            .lexicon
            .senses
            .get(first.word)
            .is_some_and(|senses| senses.iter().any(|sense| sense.class == Class::Month && sense.rest.is_empty()));
        let no_day = found.period.bound.days.is_empty();
        if is_month && no_day && before.is_some_and(|before| !first.glued && (1..=2).contains(&before.digits)) {
            return false;
        }
        if let Some(before) = before.filter(|_| first.glued) {
            let clings = match first.kind {
                Kind::Number => match before.kind {
                    Kind::Word | Kind::Number => true,
                    Kind::Sign => self.is_numeral(before),
                    Kind::Mark => before.is_among("$€£¥₽#@_+-/:.,%&=\\"),
                },
                Kind::Word => match before.kind {
                    Kind::Mark => before.is_among("-/_@#.&=\\$"),
                    _ => before.kind == Kind::Number,
                },
                Kind::Sign => self.is_numeral(first) && (self.is_numeral(before) || before.kind == Kind::Number),
                Kind::Mark => false,
            };
            if clings {
                return false;
            }
        }
        let Some(after) = after.filter(|after| after.glued) else { return true };
        let goes_on = self
            .tokens
            .get(found.end + 1)
            .is_some_and(|next| next.glued && matches!(next.kind, Kind::Word | Kind::Number));
        let clings = match last.kind {
            Kind::Number => {
                after.kind == Kind::Word || after.is_among("%$€£¥₽°") || (goes_on && after.is_among("-/:.,_+"))
            }
            Kind::Word => after.kind == Kind::Number || (goes_on && after.is_among("-/_@&=\\")),
            Kind::Sign | Kind::Mark => false,
        };
        !clings
    }

    fn is_numeral(&self, token: &Token) -> bool {
        let counts = |sense: &Sense| sense.class == Class::Count && sense.value.0 == sense.value.1;
        token.kind == Kind::Sign && self.lexicon.senses.get(token.word).is_some_and(|senses| senses.iter().any(counts))
    }
}
