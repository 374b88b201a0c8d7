//! What was matched becomes days.

use chrono::{Datelike, NaiveDate};

use super::{
    Grain,
    calendar::{self, Stretch, Unit, Which},
    table::Make,
};

/// What fills the slots of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Bound {
    pub(super) count: Option<(i32, i32)>,
    pub(super) unit: Option<Unit>,
    pub(super) months: Vec<u32>,
    pub(super) days: Vec<u32>,
    pub(super) years: Vec<Year>,
    pub(super) decade: Option<i32>,
    pub(super) weekday: Option<u32>,
    pub(super) season: Option<u32>,
    pub(super) shift: Option<i32>,
    pub(super) part: Option<i32>,
    pub(super) quarter: Option<u32>,
    pub(super) holiday: Option<(i32, i32)>,
    /// Days in digits, in each of their readings.
    pub(super) given: Vec<NaiveDate>,
    pub(super) periods: Vec<Period>,
}

/// A year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Year {
    Is(i32),
    /// So many from this one.
    From(i32),
}

/// A pattern that was matched.
#[derive(Debug, Clone)]
pub(super) struct Period {
    pub(super) bound: Bound,
    pub(super) make: Make,
}

impl Period {
    /// Whether its words name no place of the calendar, only a distance from now.
    pub(super) fn is_relative(&self) -> bool {
        let Bound {
            count: _,
            unit: _,
            months,
            days,
            years,
            decade,
            weekday,
            season,
            shift: _,
            part: _,
            quarter,
            holiday,
            given,
            periods,
        } = &self.bound;
        months.is_empty()
            && days.is_empty()
            && !years.iter().any(|year| matches!(year, Year::Is(_)))
            && (decade.is_none() && weekday.is_none() && season.is_none() && quarter.is_none() && holiday.is_none())
            && given.is_empty()
            && periods.iter().all(Self::is_relative)
    }
}

/// Days that are named, `None` for a side that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) start: Option<NaiveDate>,
    pub(super) end: Option<NaiveDate>,
    pub(super) grain: Grain,
    /// The day itself that was reckoned, where a stretch around it is meant.
    pub(super) reckoned: Option<NaiveDate>,
}

impl Named {
    fn new((start, end): Stretch, grain: Grain) -> Self {
        Self { start: Some(start), end: Some(end), grain, reckoned: None }
    }
}

/// From where times are reckoned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here {
    pub(super) today: NaiveDate,
    /// The text looks ahead.
    pub(super) ahead: bool,
}

impl Here {
    fn year(self, year: Year) -> Option<i32> {
        match year {
            Year::Is(year) => Some(year),
            Year::From(years) => self.today.year().checked_add(years),
        }
    }

    const fn which(self, shift: Option<i32>) -> Which {
        match shift {
            Some(..=-1) => Which::Last,
            Some(0) => Which::This,
            Some(1..) => Which::Next,
            None if self.ahead => Which::Coming,
            None => Which::Recent,
        }
    }
}

impl Period {
    /// The days it means: several where it may be read in several ways, none where there are no such days.
    pub(super) fn resolve(&self, here: Here) -> Vec<Named> {
        let bound = &self.bound;
        if !bound.given.is_empty() {
            let days = bound.given.iter().filter_map(|date| calendar::day(*date));
            return days.map(|day| Named::new(day, Grain::Day)).collect();
        }
        let one = |found: Option<Named>| found.into_iter().collect();
        match self.make {
            Make::Day(days) => one(day(here, days)),
            Make::Named => bound.named(here, bound.shift),
            Make::Shifted(shift) => bound.named(here, Some(shift)),
            Make::OfWeek(weeks) => one(of_week(here, weeks, bound)),
            Make::Weekend => one(weekend(here)),
            Make::Decade => one(decade(here, bound)),
            Make::Ago => one(counted(here, bound, -1)),
            Make::Ahead => one(counted(here, bound, 1)),
            Make::Lately => one(lately(here, bound)),
            Make::HalfYearAgo => one(half_year(here)),
            Make::Since | Make::Before | Make::After | Make::Until => self.open(here),
            Make::Between => one(between(here, bound)),
        }
    }

    fn open(&self, here: Here) -> Vec<Named> {
        // The period is one of its own, or stands in the slots of the same pattern.
        let own = Self { bound: Bound { periods: Vec::new(), ..self.bound.clone() }, make: Make::Named };
        let period = self.bound.periods.first().unwrap_or(&own);
        let tomorrow = calendar::days_from(here.today, 1);
        let now = |start: NaiveDate| tomorrow.filter(|end| start < *end);
        let open = |named: Named| {
            let (start, end) = match self.make {
                Make::Since => (named.start, named.start.and_then(now)),
                Make::After => (named.end, named.end.and_then(now)),
                Make::Before => (None, named.start),
                _ => (None, named.end),
            };
            // A bound that is itself open on that side says nothing.
            (start.is_some() || end.is_some()).then_some(Named { start, end, grain: Grain::Span, reckoned: None })
        };
        period.resolve(here).into_iter().filter_map(open).collect()
    }
}

fn day(here: Here, days: i32) -> Option<Named> {
    Some(Named::new(calendar::day(calendar::days_from(here.today, days.into())?)?, Grain::Day))
}

/// At the weekend itself the one that is on.
fn weekend(here: Here) -> Option<Named> {
    let on = here.ahead || here.today.weekday().number_from_monday() > 5;
    Some(Named::new(calendar::unit(here.today, Unit::Weekend, if on { 0 } else { -1 })?, Grain::Weekend))
}

fn decade(here: Here, bound: &Bound) -> Option<Named> {
    let first = here.year(*bound.years.first()?).filter(|year| year % 10 == 0)?;
    Some(Named::new(calendar::years(first, 10)?, Grain::Decade))
}

fn of_week(here: Here, weeks: i32, bound: &Bound) -> Option<Named> {
    Some(Named::new(calendar::day_of_week(here.today, weeks, bound.weekday?)?, Grain::Day))
}

/// So many units from here; of a loose number ("a few") all that it may be.
fn counted(here: Here, bound: &Bound, sign: i32) -> Option<Named> {
    let ((low, high), unit) = (bound.count.unwrap_or((1, 1)), bound.unit?);
    let reckon = |count: i32| calendar::units_from(here.today, count.checked_mul(sign)?, unit);
    let (near, far) = (reckon(low)?, reckon(high)?);
    let (near_stretch, far_stretch) = (calendar::around(near, unit)?, calendar::around(far, unit)?);
    let stretch = (near_stretch.0.min(far_stretch.0), near_stretch.1.max(far_stretch.1));
    let reckoned = (low == high).then_some(near);
    Some(Named { reckoned, ..Named::new(stretch, grain(unit)) })
}

fn half_year(here: Here) -> Option<Named> {
    let then = calendar::months_from(here.today, -6)?;
    let stretch = (calendar::days_from(then, -30)?, calendar::days_from(then, 31)?);
    Some(Named { reckoned: Some(then), ..Named::new(stretch, Grain::Month) })
}

/// The last so many units, today with them.
fn lately(here: Here, bound: &Bound) -> Option<Named> {
    let (_, most) = bound.count.unwrap_or((1, 1));
    let start = calendar::units_from(here.today, most.checked_neg()?, bound.unit?)?;
    let stretch = (start, calendar::days_from(here.today, 1)?);
    (stretch.0 < stretch.1).then(|| Named::new(stretch, Grain::Span))
}

const fn grain(unit: Unit) -> Grain {
    match unit {
        Unit::Day => Grain::Day,
        Unit::Week => Grain::Week,
        Unit::Weekend => Grain::Weekend,
        Unit::Month => Grain::Month,
        Unit::Quarter => Grain::Quarter,
        Unit::Year => Grain::Year,
        Unit::Decade => Grain::Decade,
    }
}

/// From the first to the second. What only the second says ("between March and May 2023") holds for both.
fn between(here: Here, bound: &Bound) -> Option<Named> {
    let (first, second) = match bound.periods.as_slice() {
        [first, second] => (first.clone(), second.clone()),
        _ => {
            let side = |month: Option<&u32>, day: Option<&u32>, year: Option<&Year>| Period {
                bound: Bound {
                    months: month.copied().into_iter().collect(),
                    days: day.copied().into_iter().collect(),
                    years: year.copied().into_iter().collect(),
                    ..Bound::default()
                },
                make: Make::Named,
            };
            let given = if bound.years.len() > 1 { bound.years.first() } else { None };
            let (months, days) = (&bound.months, &bound.days);
            (side(months.first(), days.first(), given), side(months.last(), days.last(), bound.years.last()))
        }
    };
    let end = second.resolve(here).last()?.end?;
    let undated = first.make == Make::Named && first.bound.shift.is_none() && first.bound.years.is_empty();
    let start = if undated && first.bound.is_yearly() {
        // In the year of the second, or over the turn of the year.
        let of = |years: i32| {
            let mut dated = first.clone();
            dated.bound.years = vec![Year::Is(end.pred_opt()?.year().checked_sub(years)?)];
            dated.resolve(here).first()?.start
        };
        of(0).filter(|start| *start < end).or_else(|| of(1))?
    } else {
        first.resolve(here).first()?.start?
    };
    (start < end).then(|| Named::new((start, end), Grain::Span))
}

impl Bound {
    /// Whether it comes round every year.
    fn is_yearly(&self) -> bool {
        !self.months.is_empty() || self.season.is_some() || self.holiday.is_some() || self.quarter.is_some()
    }

    fn named(&self, here: Here, shift: Option<i32>) -> Vec<Named> {
        let whole = self.whole(here, shift).into_iter();
        match self.part {
            None => whole.collect(),
            Some(part) => whole.filter_map(|named| self.third(named, part)).collect(),
        }
    }

    fn third(&self, named: Named, part: i32) -> Option<Named> {
        let (start, end) = (named.start?, named.end?);
        let (tenth, twentieth) = (calendar::days_from(start, 10)?, calendar::days_from(start, 20)?);
        let stretch = match (named.grain, part) {
            (Grain::Month, 0) => (start, tenth),
            (Grain::Month, 1) => (tenth, twentieth),
            (Grain::Month, _) => (twentieth, end),
            _ => calendar::third((start, end), part)?,
        };
        Some(Named::new(stretch, named.grain))
    }

    fn whole(&self, here: Here, shift: Option<i32>) -> Vec<Named> {
        let today = here.today;
        let year = self.years.first().map(|year| here.year(*year));
        // A year that is given but cannot be reckoned is no year at all.
        if year == Some(None) {
            return Vec::new();
        }
        let year = year.flatten();
        let yearly = |of: &dyn Fn(i32) -> Option<Stretch>| match year {
            Some(year) => of(year),
            None => calendar::yearly(today, here.which(shift), of),
        };
        let one = |stretch: Option<Stretch>, grain: Grain| -> Vec<Named> {
            stretch.map(|stretch| Named::new(stretch, grain)).into_iter().collect()
        };
        if let Some((from, length)) = self.holiday {
            let of = |year: i32| {
                let month_day = u32::try_from(from).ok()?;
                let first = NaiveDate::from_ymd_opt(year, month_day / 100, month_day % 100)?;
                Some((first, calendar::days_from(first, length.into())?))
            };
            return one(yearly(&of), Grain::Day);
        }
        if let Some(season) = self.season {
            let mut found = one(yearly(&|year| calendar::season(year, season)), Grain::Season);
            // The winter of a year may be the one it ends in or the one it begins in.
            if let Some(next) = year.filter(|_| season == 0).and_then(|year| year.checked_add(1)) {
                found.extend(one(calendar::season(next, season), Grain::Season));
            }
            return found;
        }
        if let Some(quarter) = self.quarter {
            return one(yearly(&|year| calendar::quarter(year, quarter)), Grain::Quarter);
        }
        if let Some(decade) = self.decade {
            return one(calendar::years(decade, 10), Grain::Decade);
        }
        if let Some(&month) = self.months.first() {
            return match self.days.first() {
                Some(&day) => {
                    let of = |year: i32| calendar::day(NaiveDate::from_ymd_opt(year, month, day)?);
                    one(yearly(&of), Grain::Day)
                }
                None => one(yearly(&|year| calendar::month(year, month)), Grain::Month),
            };
        }
        if let Some(weekday) = self.weekday {
            let stretch = match shift {
                Some(0) => calendar::day_of_week(today, 0, weekday),
                Some(shift) => {
                    let nearest = calendar::weekday(today, weekday, shift > 0);
                    // "The Friday before last" is a week before the last.
                    let weeks = i64::from(shift - shift.signum());
                    nearest.and_then(|(day, _)| calendar::day(calendar::days_from(day, 7 * weeks)?))
                }
                None => calendar::weekday(today, weekday, here.ahead),
            };
            return one(stretch, Grain::Day);
        }
        match (year, self.unit) {
            (Some(year), _) => one(calendar::years(year, 1), Grain::Year),
            // "The next day" is one in a tale.
            (None, Some(Unit::Day)) | (None, None) => Vec::new(),
            (None, Some(unit)) => one(calendar::unit(today, unit, shift.unwrap_or(0)), grain(unit)),
        }
    }
}
