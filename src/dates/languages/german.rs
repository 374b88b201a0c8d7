use crate::dates::table::{Class, Make, Table};

pub(super) const TABLE: Table = Table {
    code: "de",
    words: &[
        (
            Class::Count,
            "ein=1 eine=1 einem=1 einer=1 einen=1 zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 \
             zwölf=12 dreizehn=13 vierzehn=14 fünfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 \
             einundzwanzig=21 dreißig=30 vierzig=40 fünfzig=50 hundert=100 ein_paar=2..5 paar=2..5 einigen=2..5 \
             einige=2..5 wenigen=2..5 mehreren=3..7 mehrere=3..7",
        ),
        (
            Class::Unit,
            "tag=1 tage=1 tagen=1 tages=1 woche=2 wochen=2 wochenende=3 wochenenden=3 monat=4 monate=4 monaten=4 monats=4 quartal=5 quartale=5 quartals=5 \
             jahr=6 jahre=6 jahren=6 jahres=6 jahrzehnt=7 jahrzehnte=7 jahrzehnten=7",
        ),
        (
            Class::Month,
            "januar=1 jänner=1 februar=2 märz=3 maerz=3 ~april=4 ~mai=5 ~juni=6 ~juli=7 ~august=8 september=9 oktober=10 november=11 \
             dezember=12",
        ),
        (
            Class::Weekday,
            "montag=1 dienstag=2 mittwoch=3 donnerstag=4 freitag=5 samstag=6 sonnabend=6 sonntag=7 montagabend=1 \
             freitagabend=5 samstagabend=6 sonntagabend=7",
        ),
        (Class::Season, "winter=0 frühling=1 frühjahr=1 sommer=2 herbst=3 winters=0 sommers=2"),
        (
            Class::Shift,
            "letzte=-1 letzten=-1 letztes=-1 letzter=-1 letztem=-1 vergangene=-1 vergangenen=-1 vergangenes=-1 vorige=-1 \
             vorigen=-1 voriges=-1 diese=0 diesen=0 dieses=0 diesem=0 dieser=0 nächste=1 nächsten=1 nächstes=1 nächster=1 \
             nächstem=1 naechste=1 naechsten=1 kommende=1 kommenden=1 kommendes=1",
        ),
        (Class::Part, "anfang=0 mitte=1 ende=2 zu_beginn_des=0 anfang_des=0 mitte_des=1 ende_des=2"),
        (
            Class::Year,
            "letzten_jahres=-1 letztes_jahr=-1 vergangenen_jahres=-1 vorigen_jahres=-1 dieses_jahres=0 dieses_jahr=0 \
             nächsten_jahres=1 nächstes_jahr=1",
        ),
        (Class::Quarter, "erste=1 ersten=1 zweite=2 zweiten=2 dritte=3 dritten=3 vierte=4 vierten=4"),
        (
            Class::Ordinal,
            "erste=1 ersten=1 zweiten=2 dritten=3 vierten=4 fünften=5 sechsten=6 siebten=7 achten=8 neunten=9 zehnten=10",
        ),
        (
            Class::Decade,
            "zwanziger=20 zwanzigern=20 dreißiger=30 dreißigern=30 fünfziger=50 fünfzigern=50 sechziger=60 sechzigern=60 siebziger=70 siebzigern=70 \
             achtziger=80 achtzigern=80 neunziger=90 neunzigern=90",
        ),
        (Class::Holiday, "weihnachten=1224..3 heiligabend=1224..1 silvester=1231..1 neujahr=101..1 halloween=1031..1"),
    ],
    patterns: &[
        ("heute morgen|früh|vormittag|mittag|nachmittag|abend|nacht?", Make::Day(0)),
        ("gestern morgen|früh|vormittag|mittag|nachmittag|abend|nacht?", Make::Day(-1)),
        ("letzte nacht", Make::Day(-1)),
        ("vorgestern morgen|früh|vormittag|mittag|nachmittag|abend|nacht?", Make::Day(-2)),
        ("@morgen früh|vormittag|mittag|nachmittag|abend|nacht?", Make::Day(1)),
        ("übermorgen", Make::Day(2)),
        ("vor etwa|ungefähr|rund|circa|ca|über|fast? .? <n> <unit>", Make::Ago),
        ("vor einem halben jahr", Make::HalfYearAgo),
        ("heute in <n> <unit>", Make::Ahead),
        ("^in <n> <unit>", Make::Ahead),
        ("in|während|über? den|die|der? letzten|letzte|vergangenen|vergangene <n> <unit>", Make::Lately),
        ("in|im|am|während|an? der|den|dem|das|die? <shift> <unit>", Make::Named),
        ("am wochenende", Make::Weekend),
        ("in|im|am? vorletzte|vorletzten|vorletztes|vorletzter <unit>", Make::Shifted(-2)),
        ("gegen|zu? <part> <shift> <unit>", Make::Named),
        ("am <weekday>", Make::Named),
        ("am? <shift> <weekday>", Make::Named),
        ("am? <weekday> letzte|vorige|vergangene|letzter|voriger woche", Make::OfWeek(-1)),
        ("am? <weekday> diese|dieser woche", Make::OfWeek(0)),
        ("am? <weekday> nächste|nächster|kommende woche", Make::OfWeek(1)),
        ("am|vom|den|dem|der? <weekday>? ,? der|den|dem? <day> .? <month> ,? <year>", Make::Named),
        ("am|vom|den|dem|der? <weekday>? ,? der|den|dem? <day> .? <month>", Make::Named),
        ("am|vom <nth> <month> <year>?", Make::Named),
        ("im|in|während|seit_dem|des? monat? <month> des? jahres? <year>", Make::Named),
        ("im|während_des <month>", Make::Named),
        ("im? <shift> <month>", Make::Named),
        ("gegen|zu? <part> <month> <year>?", Make::Named),
        ("=<month>", Make::Named),
        ("im jahr|jahre <digits>", Make::Named),
        ("in <digits>", Make::Named),
        ("<part> <digits>", Make::Named),
        ("im? <season> des? jahres? <year>", Make::Named),
        ("in|im|den|diesen|dieses? <shift> <season>", Make::Named),
        ("im <season>", Make::Named),
        ("im? <quarter> . quartal <year>", Make::Named),
        ("im? <quarter> quartal <year>", Make::Named),
        ("in? den? <tens> er|ern jahren|jahre?", Make::Named),
        ("in den <decade> jahren?", Make::Named),
        ("die <decade> jahre", Make::Named),
        ("an|zu|über|um <holiday> <year>?", Make::Named),
        ("an|zu? <shift> <holiday>", Make::Named),
        ("<holiday> <year>", Make::Named),
        ("zwischen <period> und <period>", Make::Between),
        ("von|vom <period> bis zum? <period>", Make::Between),
        ("von|vom|zwischen? <month> bis|und|- <month> <year>", Make::Between),
        ("von|vom|zwischen <month> bis|und|- <month>", Make::Between),
        ("von|vom|zwischen|zwischen_dem? <day> .? bis|bis_zum|und|und_dem|- <day> .? <month> <year>?", Make::Between),
        ("von|zwischen <digits> bis|und|- <digits>", Make::Between),
        ("seit|ab <period>", Make::Since),
        ("seit|ab dem? <weekday>", Make::Since),
        ("seit|ab <month> <year>?", Make::Since),
        ("seit|ab <digits>", Make::Since),
        ("vor dem? <period>", Make::Before),
        ("vor <month> <year>?", Make::Before),
        ("vor <digits>", Make::Before),
        ("nach dem? <period>", Make::After),
        ("nach <month> <year>?", Make::After),
        ("nach <digits>", Make::After),
        ("bis zum? <period>", Make::Until),
        ("bis <month> <year>?", Make::Until),
        ("bis <digits>", Make::Until),
    ],
    not_before: "euro dollar franken menschen leuten personen mal kilometer kilometern km metern minuten stunden wörtern schritten seiten \
        fällen städten ländern prozent",
    not_after: "jeden jeder jedes guten guter am_morgen version kapitel seite schwarzen",
    ahead: "werde wirst wird werden werdet plane planen pläne vorhaben",
    hints: "der die das und ist ich nicht ein eine zu den mit sich auf für es dem war was wann wo wer wie wir haben habe hat",
};
