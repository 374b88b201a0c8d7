//! Five years of a made-up town: who lives where, works where, is married to whom, and how it is told.

use std::collections::BTreeSet;

/// A source of numbers; equal seeds give equal numbers. xorshift64*
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.below(usize::try_from(to - from).unwrap())).unwrap()
    }

    fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}

/// Someone or something there is.
#[derive(Debug, Clone)]
pub struct Being {
    pub name: String,
    pub kind: &'static str,
    /// Whether only its kind tells it apart from another of that name.
    pub shares_name: bool,
    pub is_woman: bool,
}

/// What is told of two: since a day, and until another if that is told.
#[derive(Debug, Clone)]
pub struct Statement {
    pub subject: usize,
    pub predicate: &'static str,
    pub object: usize,
    pub from: i64,
    pub until: Option<i64>,
}

/// A sentence and what it tells.
#[derive(Debug, Clone)]
pub struct Sentence {
    pub text: String,
    pub statements: Vec<Statement>,
    /// Whether it is said on the day it tells of; else the day is part of the fact.
    pub on_the_day: bool,
}

/// The last day.
pub const DAYS: i64 = 5 * 365;

pub const SINGLE: [&str; 5] = ["lives_in", "works_at", "married_to", "has_office_in", "has_vet"];

/// Names that differ by a letter, and names of two that are different sorts of things.
const FIRST: [&str; 40] = [
    "Jon", "John", "Joan", "Jan", "Jane", "Ana", "Anna", "Anne", "Hanna", "Marta", "Marty", "Maria", "Mario", "Karl",
    "Karla", "Carl", "Carla", "Eric", "Erik", "Erika", "Lena", "Lina", "Nina", "Dina", "Paul", "Paula", "Pablo",
    "Olaf", "Olga", "Ivan", "Ivana", "Peter", "Petra", "Tom", "Tim", "Kim", "Sven", "Swen", "Rosa", "Ross",
];
const WOMEN: &str =
    "Joan Jane Ana Anna Anne Hanna Marta Maria Karla Carla Erika Lena Lina Nina Dina Paula Olga Ivana Petra Kim Rosa";
const LAST: [&str; 25] = [
    "Lima", "Lema", "Silva", "Sylva", "Costa", "Koster", "Smithson", "Smitson", "Anderson", "Andersen", "Petersen",
    "Peterson", "Meier", "Meyer", "Mayer", "Novak", "Nowak", "Moreau", "Morrow", "Larsson", "Larssen", "Ferreira",
    "Ferrara", "Okafor", "Tanaka",
];
const CITIES: [&str; 40] = [
    "Lisbon", "Porto", "Braga", "Faro", "Madrid", "Bilbao", "Lyon", "Lille", "Nice", "Turin", "Milan", "Genoa",
    "Basel", "Bern", "Vienna", "Linz", "Graz", "Prague", "Brno", "Krakow", "Gdansk", "Oslo", "Bergen", "Malmo", "Lund",
    "Turku", "Tampere", "Riga", "Tartu", "Ghent", "Bruges", "Delft", "Leiden", "Cork", "Galway", "York", "Leeds",
    "Bath", "Jordan", "Florence",
];
const DOGS: [&str; 15] = [
    "Bruno", "Brunello", "Rex", "Rexo", "Luna", "Lunar", "Max", "Maxi", "Bella", "Belle", "Rocky", "Ricky", "Daisy",
    "Toby", "Tobi",
];

pub struct Story {
    pub beings: Vec<Being>,
    /// In the order they are told in.
    pub sentences: Vec<Sentence>,
    pub people: usize,
}

struct Teller {
    dice: Dice,
    beings: Vec<Being>,
    sentences: Vec<Sentence>,
    /// Of two sentences the one that is told first.
    in_order: Vec<[usize; 2]>,
}

impl Story {
    pub fn new(seed: u64, people: usize) -> Self {
        let mut teller =
            Teller { dice: Dice::new(seed), beings: Vec::new(), sentences: Vec::new(), in_order: Vec::new() };
        teller.people(people);
        let cities = teller.all(CITIES.map(str::to_owned).to_vec(), "city");
        let mut names: Vec<String> = ('A'..='Z').map(|letter| format!("KTR{letter}")).collect();
        names.extend(LAST.iter().map(|name| format!("{name} Robotics")));
        names.extend(CITIES.iter().take(20).map(|city| format!("{city} Clinic")));
        let employers = teller.all(names, "organization");
        let vets = teller.all(LAST.iter().map(|name| format!("Praxis {name}")).collect(), "veterinarian");
        let dogs: Vec<String> = (0..people * 3 / 10)
            .map(|number| {
                format!(
                    "{} {}",
                    DOGS[number % DOGS.len()],
                    [
                        "of Hill",
                        "of Dale",
                        "the Elder",
                        "the Younger",
                        "Junior",
                        "Senior",
                        "Blue",
                        "Grey",
                        "Black",
                        "White"
                    ][number / DOGS.len()]
                )
            })
            .collect();
        let dogs = teller.all(dogs, "dog");
        for &employer in &employers {
            teller.stays(employer, "has_office_in", &cities, 2);
        }
        for person in 0..people {
            teller.stays(person, "lives_in", &cities, 5);
            teller.jobs(person, &employers);
            for _ in 0..1 + teller.dice.below(2) {
                teller.friend(person, people);
            }
        }
        teller.marriages(people);
        for (number, &dog) in dogs.iter().enumerate() {
            let (owner, vet) = ((number * 3 + 1) % people, vets[teller.dice.below(vets.len())]);
            let day = teller.dice.between(0, DAYS - 100);
            teller.tell("{} got a dog named {}.", [owner, dog], &["has_pet"], day, None);
            let later = day + teller.dice.between(1, 90);
            teller.tell("{} is treated by the vet {}.", [dog, vet], &["has_vet"], later, None);
        }
        let Teller { mut dice, beings, sentences, in_order } = teller;
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        dice.shuffle(&mut order);
        let mut places: Vec<usize> = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, sentence)| places[*sentence] = place);
        for [first, second] in in_order {
            if places[first] > places[second] {
                order.swap(places[first], places[second]);
            }
        }
        let sentences = order.into_iter().map(|number| sentences[number].clone()).collect();
        Self { beings, sentences, people }
    }
}

impl Teller {
    fn people(&mut self, count: usize) {
        let mut names: Vec<String> =
            LAST.iter().flat_map(|last| FIRST.iter().map(move |first| format!("{first} {last}"))).collect();
        self.dice.shuffle(&mut names);
        // Two of one name, told apart by what they do, and two that are called like a city.
        names.truncate(count.saturating_sub(4));
        names.extend(["Ana Silva (pilot)", "Ana Silva (nurse)", "Jordan", "Florence"].map(str::to_owned));
        self.all(names, "person");
    }

    fn all(&mut self, names: Vec<String>, kind: &'static str) -> Vec<usize> {
        let from = self.beings.len();
        for name in names {
            let first = name.split(' ').next().unwrap();
            let is_woman = WOMEN.split(' ').any(|woman| woman == first) || name == "Florence";
            let shares_name = ["Jordan", "Florence"].contains(&name.as_str());
            self.beings.push(Being { name, kind, shares_name, is_woman });
        }
        (from..self.beings.len()).collect()
    }

    /// A sentence with two names; with two predicates the second is told the other way round.
    fn tell(&mut self, text: &str, ends: [usize; 2], predicates: &[&'static str], from: i64, until: Option<i64>) {
        let [subject, object] = ends;
        let text = text.replacen("{}", &self.beings[subject].name, 1).replacen("{}", &self.beings[object].name, 1);
        let ways = predicates.iter().zip([(subject, object), (object, subject)]);
        let statements =
            ways.map(|(predicate, (subject, object))| Statement { subject, predicate, object, from, until }).collect();
        let on_the_day = until.is_none() && self.dice.happens(50);
        self.sentences.push(Sentence { text, statements, on_the_day });
    }

    /// One place after another, some of them again.
    fn stays(&mut self, subject: usize, predicate: &'static str, places: &[usize], most: usize) {
        let (came, still) = match predicate {
            "lives_in" => ("{} moved to {}.", "{} still lives in {}."),
            _ => ("{} opened its office in {}.", "The office of {} is still in {}."),
        };
        let mut been: Vec<usize> = Vec::new();
        let mut from = -self.dice.between(1, 1_000);
        for _ in 0..1 + self.dice.below(most) {
            let place = self.next_of(&been, places);
            self.tell(came, [subject, place], &[predicate], from, None);
            let until = from.max(0) + self.dice.between(60, 700);
            if self.dice.happens(25) {
                let day = self.dice.between(from + 1, until.min(DAYS));
                self.tell(still, [subject, place], &[predicate], day, None);
            }
            been.push(place);
            from = until;
            if from >= DAYS - 30 {
                break;
            }
        }
    }

    /// Another than the last; one that has been before with some luck.
    fn next_of(&mut self, been: &[usize], all: &[usize]) -> usize {
        loop {
            let again = !been.is_empty() && self.dice.happens(35);
            let next = if again { been[self.dice.below(been.len())] } else { all[self.dice.below(all.len())] };
            if been.last() != Some(&next) {
                return next;
            }
        }
    }

    fn jobs(&mut self, person: usize, employers: &[usize]) {
        let mut been: Vec<usize> = Vec::new();
        let mut from = self.dice.between(-800, 400);
        for spell in 0..self.dice.below(5) {
            let employer = self.next_of(&been, employers);
            let until = from.max(0) + self.dice.between(60, 700);
            if until >= DAYS - 30 {
                self.tell("{} took a job at {}.", [person, employer], &["works_at"], from, None);
                return;
            }
            let idle = if self.dice.happens(40) { self.dice.between(10, 200) } else { 0 };
            // A job with nothing after it is told with its end, or it would be thought to go on.
            let ends = idle > 0 || self.dice.happens(30);
            let begins = !ends || spell > 0 || self.dice.happens(70);
            let first = self.sentences.len();
            if begins {
                self.tell("{} took a job at {}.", [person, employer], &["works_at"], from, None);
            }
            if self.dice.happens(25) {
                let day = self.dice.between(from + 1, until);
                self.tell("{} still works at {}.", [person, employer], &["works_at"], day, None);
            }
            if ends {
                // Whether a stretch that is over ended what was before, or came between, is not to be told from it alone.
                if spell > 0 {
                    self.in_order.push([first, self.sentences.len()]);
                }
                self.tell("{} used to work at {}.", [person, employer], &["works_at"], from, Some(until));
            }
            been.push(employer);
            from = until + idle;
        }
    }

    fn friend(&mut self, person: usize, people: usize) {
        let other = self.dice.below(people);
        let day = self.dice.between(-300, DAYS);
        let known = |sentence: &Sentence| {
            sentence.statements.iter().any(|told| {
                told.predicate == "friend_of"
                    && [(person, other), (other, person)].contains(&(told.subject, told.object))
            })
        };
        if other != person && !self.sentences.iter().any(known) {
            self.tell("{} and {} became friends.", [person, other], &["friend_of", "friend_of"], day, None);
        }
    }

    fn marriages(&mut self, people: usize) {
        let mut free: BTreeSet<(i64, usize)> = (0..people).map(|person| (0, person)).collect();
        let married = ["married_to", "married_to"];
        for _ in 0..people / 2 {
            let all: Vec<(i64, usize)> = free.iter().copied().collect();
            let (one, other) = (all[self.dice.below(all.len())], all[self.dice.below(all.len())]);
            let pair = [one.1, other.1];
            if self.beings[pair[0]].is_woman == self.beings[pair[1]].is_woman {
                continue;
            }
            free.remove(&one);
            free.remove(&other);
            let from = one.0.max(other.0) + self.dice.between(1, 400);
            let until = from + self.dice.between(90, 500);
            let parts = until < DAYS - 300 && self.dice.happens(60);
            let again = one.0 + other.0 > 0;
            let first = self.sentences.len();
            if !parts || again || self.dice.happens(70) {
                self.tell("{} and {} got married.", pair, &married, from, None);
            }
            if parts {
                if again {
                    self.in_order.push([first, self.sentences.len()]);
                }
                self.tell("{} and {} were married until they got divorced.", pair, &married, from, Some(until));
                free.extend(pair.map(|person| (until + 20, person)));
            }
        }
    }
}
