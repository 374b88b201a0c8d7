use crate::dates::table::{Class, Make, Table};

pub(super) const TABLE: Table = Table {
    code: "en",
    words: &[
        (
            Class::Count,
            "a=1 an=1 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 \
             thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 \
             forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 a_hundred=100 couple=2..3 couple_of=2..3 \
             a_couple=2..3 a_couple_of=2..3 few=2..5 a_few=2..5 several=3..7 some=2..7",
        ),
        (
            Class::Unit,
            "day=1 days=1 week=2 weeks=2 weekend=3 weekends=3 month=4 months=4 quarter=5 quarters=5 year=6 years=6 yr=6 \
             yrs=6 decade=7 decades=7",
        ),
        (
            Class::Month,
            "january=1 february=2 ~march=3 ~april=4 ~may=5 ~june=6 july=7 ~august=8 september=9 october=10 november=11 \
             december=12 ~jan=1 feb=2 ~mar=3 ~apr=4 ~jun=6 ~jul=7 ~aug=8 ~sept=9 ~sep=9 ~oct=10 ~nov=11 ~dec=12",
        ),
        (
            Class::Weekday,
            "monday=1 tuesday=2 wednesday=3 thursday=4 friday=5 saturday=6 sunday=7 ~mon=1 ~tue=2 ~tues=2 ~wed=3 ~thu=4 \
             ~thurs=4 ~fri=5 ~sat=6 ~sun=7",
        ),
        (Class::Season, "winter=0 spring=1 summer=2 autumn=3 fall=3"),
        (Class::Shift, "last=-1 past=-1 previous=-1 this=0 current=0 next=1 coming=1 upcoming=1"),
        (
            Class::Part,
            "early=0 mid=1 late=2 the_beginning_of=0 the_start_of=0 beginning_of=0 start_of=0 the_middle_of=1 middle_of=1 \
             the_end_of=2 end_of=2",
        ),
        (
            Class::Year,
            "last_year=-1 this_year=0 next_year=1 the_year_before_last=-2 the_previous_year=-1 the_past_year=-1",
        ),
        (Class::Quarter, "first=1 second=2 third=3 fourth=4 last=4"),
        (
            Class::Ordinal,
            "first=1 second=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10 eleventh=11 \
             twelfth=12 thirteenth=13 fourteenth=14 fifteenth=15 sixteenth=16 seventeenth=17 eighteenth=18 \
             nineteenth=19 twentieth=20 twenty-first=21 twenty-second=22 twenty-third=23 twenty-fourth=24 \
             twenty-fifth=25 twenty-sixth=26 twenty-seventh=27 twenty-eighth=28 twenty-ninth=29 thirtieth=30 \
             thirty-first=31",
        ),
        (
            Class::Decade,
            "twenties=20 thirties=30 forties=40 fifties=50 sixties=60 seventies=70 eighties=80 nineties=90",
        ),
        (
            Class::Holiday,
            "christmas_eve=1224..1 christmas_day=1225..1 christmas=1224..3 xmas=1224..3 new_year's_eve=1231..1 \
             new_year's_day=101..1 new_years_eve=1231..1 new_year's=1231..2 new_years=1231..2 new_year=1231..2 \
             halloween=1031..1 valentine's_day=214..1 valentines_day=214..1",
        ),
    ],
    patterns: &[
        ("today", Make::Day(0)),
        ("tonight", Make::Day(0)),
        ("this morning|afternoon|evening", Make::Day(0)),
        ("yesterday morning|afternoon|evening|night?", Make::Day(-1)),
        ("last night", Make::Day(-1)),
        ("the? day before yesterday", Make::Day(-2)),
        ("tomorrow morning|afternoon|evening|night?", Make::Day(1)),
        ("the? day after tomorrow", Make::Day(2)),
        ("a fortnight ago", Make::Day(-14)),
        // Days and weeks counted from here.
        ("about|around|over|exactly? <n> <unit> ago|back|earlier", Make::Ago),
        ("half_a_year ago", Make::HalfYearAgo),
        ("<n> <unit> from now|today", Make::Ahead),
        ("in <n> <unit> ' time", Make::Ahead),
        ("^in <n> <unit>", Make::Ahead),
        ("in|during|over|within|for the|these last|past <n>? <unit>", Make::Lately),
        ("last|past <n> <unit>", Make::Lately),
        ("in? earlier|later? <shift> <unit>", Make::Named),
        ("the? <unit> before last", Make::Shifted(-2)),
        ("the <unit> after next", Make::Shifted(2)),
        ("the previous|preceding <unit>", Make::Shifted(-1)),
        ("the coming|following <unit>", Make::Shifted(1)),
        ("at|on|over the weekend", Make::Weekend),
        ("at|in|by? <part> this|last|next <unit>", Make::Named),
        ("at|in|by? <part> -? <shift> <unit>", Make::Named),
        // Weekdays.
        ("on? <shift> <weekday> morning|afternoon|evening|night?", Make::Named),
        ("on <weekday> morning|afternoon|evening|night?", Make::Named),
        ("<weekday> morning|afternoon|evening|night", Make::Named),
        ("on? <weekday> last week", Make::OfWeek(-1)),
        ("on? <weekday> this week", Make::OfWeek(0)),
        ("on? <weekday> next week", Make::OfWeek(1)),
        ("the <weekday> before last", Make::Shifted(-2)),
        // Days, months, years.
        ("on? <weekday>? ,? the? <day> of? <month> ,? of|in? <year>", Make::Named),
        ("on? <weekday>? ,? the? <day> of <month>", Make::Named),
        ("on? <weekday>? ,? the? <day> <month>", Make::Named),
        ("on? the? <nth> of <month> ,? <year>?", Make::Named),
        ("on? the? <weekday>? ,? <month> the? <day> ,? of|in? <year>", Make::Named),
        ("on? the? <weekday>? ,? <month> the? <day>", Make::Named),
        ("!on <month> the? <day> ,? <year>?", Make::Named),
        ("!on the? <day> of <month> ,? <year>?", Make::Named),
        ("on? <month> the? <nth> ,? <year>?", Make::Named),
        ("!in|during|throughout|for|back_in|around|of <month> ,? of? <year>?", Make::Named),
        ("in|during|throughout? the? month of? <month> ,? of? <year>?", Make::Named),
        ("!in|by? <part> -? in? <month> ,? of? <year>?", Make::Named),
        ("!<month> ,? of? <digits>", Make::Named),
        ("<month> of? <year>", Make::Named),
        ("<month> '? s? <day> -|to|until|through|till|and <day> ,? <year>?", Make::Between),
        ("=<month>", Make::Named),
        ("<shift> <month>", Make::Named),
        ("in|during? the? year <digits>", Make::Named),
        ("in|during|throughout|back_in|circa <digits>", Make::Named),
        ("at|in|by? <part> -? <year>", Make::Named),
        // Seasons, quarters, decades, feasts.
        ("in|during|over? the? <part>? -? <season> of? <year>", Make::Named),
        ("in|during|over? <part>? -? <shift> <season>", Make::Named),
        ("in|during|over the? <part>? -? <season>", Make::Named),
        ("in? q <quarter> of? ,? <year>", Make::Named),
        ("in? the? <quarter> quarter of? <year>", Make::Named),
        ("in|during|since? the <part>? -? '? <tens> '? s", Make::Named),
        ("in|during? <digits> '? s", Make::Decade),
        ("in? the <part>? -? <decade>", Make::Named),
        ("on|at|over|for|around|during <holiday> ,? of|in? <year>?", Make::Named),
        ("<holiday> of|in? <year>", Make::Named),
        ("on|at|over? <shift> <holiday>", Make::Named),
        // From one time to another.
        ("between <period> and <period>", Make::Between),
        ("from? <period> to|until|till|through|- <period>", Make::Between),
        ("!from|between <month> to|until|till|through|and|- <month> ,? of? <year>?", Make::Between),
        ("<month> to|until|till|through|- <month> ,? of? <digits>", Make::Between),
        ("from|between|on? the? <day> to|until|till|through|and|- the? <day> of? <month> ,? <year>?", Make::Between),
        ("from|between <month> <day> to|until|till|through|and|- <day> ,? <year>?", Make::Between),
        ("from|between <digits> to|until|till|through|and|- <digits>", Make::Between),
        ("since|from|starting <period> on|onwards|onward|forward", Make::Since),
        ("ever? since <period>", Make::Since),
        ("!ever? since <month> <year>?", Make::Since),
        ("ever? since <digits>", Make::Since),
        ("before|prior_to <period>", Make::Before),
        ("!before|prior_to <month> <year>?", Make::Before),
        ("before|prior_to <digits>", Make::Before),
        ("ever? since <weekday>", Make::Since),
        ("after <period>", Make::After),
        ("!after <month> <year>?", Make::After),
        ("after <digits>", Make::After),
        ("until|till|up_to|by <period>", Make::Until),
        ("!until|till|up_to|by <month> <year>?", Make::Until),
        ("until|till <digits>", Make::Until),
        ("until|till|through <weekday>", Make::Until),
        ("until|till|through <holiday>", Make::Until),
    ],
    not_before: "of dollars dollar euros euro pounds bucks rubles usd eur gbp yen steps words people person users users' km kms \
        kilometers kilometres mile miles meters metres feet calories kcal cases cities countries ways places pages \
        copies times items points percent hours minutes degrees kg lbs tokens lines characters of_them jones smith \
        madness fools fool",
    not_after: "the black good every each casual ash fat cyber giving version chapter page room section part episode apollo \
        route flight any",
    ahead: "will shall gonna upcoming plan plans planning planned scheduled",
    hints: "the and is are was were of to in that it for on with he she they you what when did do does how who my have has",
};
