//! The words of the English table.

use super::allergens;
use crate::{
    dates::Words,
    rules::{language::Lists, when::Calendar},
};

pub(super) const LISTS: Lists = Lists {
    leads: "sadly unfortunately lol haha hehe wow yay hooray hmm hm umm um ugh omg yup sure tbh well oh ok okay yes yeah yep btw also now then currently actually honestly anyway plus fyi ps update so \
        because since though personally luckily recently by the way",
    openers: "as_i_said as_i_mentioned as_i_told_you like_i_said to_be_honest to_be_fair it_turns_out turns_out for_the_record in_fact just_so_you_know",
    lately: "just currently recently now finally presently",
    solo: "moved relocated living residing working based",
    greetings: "hi hello hey hiya greetings thanks thank",
    fillers: "now currently also just really actually still recently both do always absolutely truly already \
        presently totally definitely finally officially very especially",
    joints: "and but so because or yet plus why",
    either: "or",
    subjects: "i we he she they you it my our his her their your there this that these those",
    heads: "bought live work love hate enjoy adore prefer dislike have moved am allergic vegetarian vegan do don't \
        study speak plan got adopted joined quit graduated own run recently just now still no cannot can single married divorced retired",
    bare_heads: "live work love hate enjoy adore prefer dislike have do study speak plan own run can",
    infinitive: "to would could should will can might must let",
    voids: "wish wished imagine imagining pretend pretending suppose supposedly hypothetically dreamed dreamt \
        nightmare joking kidding sarcasm say said says saying told tells lyrics",
    hedges: "if maybe perhaps probably possibly apparently might guess whether otherwise unless assume assuming",
    reports: "think thinks thought believe believes heard asked asks wrote claims claim mean means swear story \
        character",
    subordinate: "when whenever once until before after while although as where who which whose",
    bounces: "you yours",
    questions: "what which where when who how why can could should would do does did is are will any got",
    about: "me myself fyi ps btw",
    lead_ins: "news update announcement fact note info background context thing heads up reminder confession \
        introduction intro a an the of some my one another more big good great bad sad happy quick small little fun \
        random life latest other side personal exciting important self to also here 's breaking bit for",
    pastes: "write compose draft narrate continue impersonate simulate polish shorten role-play roleplaying \
        role-playing edit translate proofread paraphrase summarize summarise rephrase rewrite transcribe roleplay pretend imagine \
        suppose act",
    edits: "check improve fix correct answer reply respond review critique revise reword refine rate grade evaluate \
        analyze analyse make shorten format",
    texts: "text letter email e-mail mail sentence sentences paragraph paragraphs essay passage draft excerpt message \
        messages bio profile resume résumé cv poem lyrics transcript statement statements speech grammar spelling \
        abstract english wording phrasing",
    these: "this these following",
    salutations: "dear dearest",
    plays: "play_the_role you_to_be you_will_be you_will_play answer_as reply_as respond_as a_role-play a_roleplay do_role-play do_roleplay let_'s_role-play let_'s_roleplay you_are_now you_are_dan \
        you_are_no_longer ignore_previous ignore_all ignore_your ignore_the disregard_previous disregard_all \
        disregard_your play_a_game play_pretend my_character my_persona my_avatar my_protagonist i_dreamed i_dreamt \
        from_now_on_you once_upon_a_time let_'s_say let_'s_assume let_'s_suppose let_'s_imagine \
        a_dream_last_night had_a_nightmare in_my_dream in_my_dreams",
    scenes: "be_my for_this_exercise for_the_exercise for_this_game for_this_scenario for_this_scene for_this_story \
        in_my_novel in_my_book in_my_fanfic in_the_game in_the_story scenario_: prompt_: example_: system_: user_: \
        assistant_: for_this_example for_this_demo for_this_task for_this_prompt for_this_role in_this_scenario in_this_story \
        in_this_game",
    help: "help feedback think opinion thoughts sound sounds attached here's below above following",
    closings: "best_regards kind_regards warm_regards yours_sincerely yours_truly yours_faithfully sincerely regards",
    roles: "assistant expert pirate robot chatbot bot ai wizard king queen knight character detective interviewer tutor \
        model agent",
    retractions: "not not_really not_at_all not_anymore not_true i_do_not \
        i_do_not_anymore i_am_not i_am_not_anymore no_longer nope psych sike as_if i_wish",
    asides: "at_heart at_times at_best in_my_head in_my_mind in_my_dreams in_my_dream in_my_imagination in_theory \
        in_spirit on_paper in_my_family in_the_family in_training on_my_mind in_disguise by_nobody not_really for_a_day for_the_day \
        for_halloween as_him as_her for_no_one for_fun",
    digressions: "who whose",
    losses: "died dead passed lost late gone buried deceased ex former missing anymore longer",
    reminders: "remember please_remember do_not_forget please_do_not_forget keep_in_mind please_keep_in_mind",
    links: "that",
    states: "is are has opens closes starts begins ends leaves arrives expires",
    jests: "/_s just_kidding jk i'm_kidding just_joking",
    corrections: "no_wait wait_no i_meant i_meant_to_say i_mean_to_say scratch_that strike_that correction_: \
        make_that or_rather i_misspoke",
    rewordings: "i_mean oops",
    hesitations: "no sorry wait actually hold_on hang_on my_bad my_mistake that_'s_wrong that_is_wrong",
    unmarked: "no wait i scratch strike or",
    between: "oh um uh hmm well but",
    besides: "too also well",
    partly: "severely deathly highly seriously badly terribly extremely very so as quite really that just only merely simply solely always exclusively strictly necessarily fully",
    narrowing: "to from in under into with on at for by as near during without alone than every each much often enough",
    partial: "for to in on from but during",
    remarks: "sometimes often always never ever maybe perhaps lot kinda typo thanks thank please seriously come gotta wrong well enough again cap \
        way who what why how when guess",
    stops: "because but so since when while although though as then after before until till except even whenever \
        however cause cuz 'cause despite due",
    limits: "only until till except unless during weekends weekdays mondays tuesdays wednesdays thursdays fridays \
        saturdays sundays mornings evenings afternoons nights summers winters",
    conditions: "or at when whenever while if without",
    keeps: "after before until till except",
    pairs: "mac_and_cheese fish_and_chips rock_and_roll salt_and_vinegar salt_and_pepper arts_and_crafts \
        bread_and_butter black_and_white drum_and_bass rhythm_and_blues peanut_butter_and_jelly bacon_and_eggs \
        gin_and_tonic sweet_and_sour cookies_and_cream peaches_and_cream track_and_field research_and_development \
        trial_and_error peace_and_quiet pros_and_cons ups_and_downs hide_and_seek bits_and_pieces cloak_and_dagger sword_and_sorcery ham_and_cheese",
    follow: "that which who where called named due specializing specialising",
    breakers: "who whom whose which that where if than without and/or i am is are was were will would can could should \
        do does did has have had not 's",
    name_stops: "with for from on at in to since by about near during right next last this here there every \
        until now currently too also",
    trailing: "too also now currently anymore though lot a_lot lots as_well right_now at_the_moment these_days \
        very_much so_much haha lol again together already really recently still honestly actually today after_all originally tbh at_all in_general in_particular especially overall please thanks btw",
    pointers: "i me my mine myself we us our ours ourselves you your yours yourself it its itself this that these \
        those him her hers them their theirs his he she they here there such something someone somewhere anything \
        everything nothing one ones stuff things thing what how why",
    bad_starts: "much many enough either neither nor never every each hard alone abroad online when where who some any no not all both another same \
        being able sure just only more less too so very for with at in on up out of about from by into over \
        good great well better best",
    vague: "class management bed tears few safe poverty misery luxury sin part memory moment aspect idea look way sound smell vibe fun way lot bit thing home work night night day job school life team \
        company place time moment everyone people myself house apartment town city village country dorm fear peace \
        hope pain it good great fine ok okay sure here there long common rare weird unusual hard easy important \
        secret different present free least last first once change living future world",
    passing: "part thing things memory memories moment time way bit aspect one",
    articles: "a an the",
    name_links: "of the de la le da do dos das del di du von van der den el al y and upon saint 's",
    occupations: "teacher nurse engineer developer programmer designer doctor lawyer accountant architect chef cook \
        baker waiter waitress barista plumber electrician carpenter mechanic driver pilot journalist editor \
        translator interpreter librarian professor lecturer researcher scientist analyst manager consultant \
        recruiter salesperson cashier receptionist secretary dentist surgeon pharmacist veterinarian vet therapist \
        psychologist counselor counsellor paramedic firefighter soldier farmer gardener hairdresser barber tailor \
        entrepreneur freelancer contractor administrator technician statistician economist banker auditor \
        marketer realtor bartender butcher fisherman electrician welder coach physicist chemist biologist \
        mathematician geologist data-scientist physiotherapist optometrist paralegal judge diplomat tutor \
        photographer videographer animator illustrator copywriter cto ceo cfo",
    occupation_endings: "ologist",
    no_names: "asap american british english irish scottish welsh canadian mexican brazilian argentinian chilean french \
        german italian spanish portuguese dutch belgian swiss austrian polish czech russian ukrainian turkish greek \
        indian pakistani chinese japanese korean vietnamese thai filipino indonesian australian egyptian nigerian \
        kenyan swedish norwegian danish finnish israeli iranian iraqi arab asian african european latino latina \
        hispanic christian catholic muslim jewish buddhist hindu atheist mormon protestant orthodox virgo aries \
        linux windows mac macos android ios ubuntu debian vim emacs postgres postgresql python rust java javascript \
        typescript react aws azure gcp github gitlab notion slack kubernetes docker chrome firefox ok okay done ready lost stuck tired bored confused curious looking trying working back here happy good fine great sorry glad new sure bilingual nobody anybody someone everyone human \
        late early vegan vegetarian pescatarian hungry thirsty annoyed angry sad sick ill pregnant asleep awake home away \
        free busy available interested excited nervous anxious scared afraid worried upset broke rich poor drunk sober \
        single married divorced engaged widowed retired unemployed diabetic left-handed right-handed alone lonely lazy \
        old young tall short fat thin cold hot bad well all almost also still really very too quite finally currently \
        exhausted sleepy overwhelmed frustrated disappointed shocked surprised amazed impressed grateful thankful \
        thrilled delighted proud jealous allergic stressed depressed using building writing reading learning studying \
        planning thinking wondering asking testing running going coming getting having doing making talking living",
    no_places: "git svn mercurial linux ubuntu debian fedora arch gentoo nixos gnome kde xfce windows macos mac ios \
        android vscode vim neovim emacs sublime intellij xcode postgres postgresql mysql mariadb mongodb redis sqlite \
        oracle kafka rabbitmq elasticsearch snowflake databricks spark vue angular svelte next.js node.js react deno \
        bun golang kotlin swift scala haskell elixir clojure ruby rust python javascript typescript php perl laravel \
        django flask fastapi rails terraform ansible jenkins github gitlab bitbucket jira trello asana linear notion \
        obsidian evernote todoist zoom teams discord telegram signal whatsapp slack gmail outlook proton protonmail \
        spotify netflix bluesky mastodon threads twitter facebook instagram tiktok reddit airtable figma sketch \
        shopify wordpress squarespace wix heroku vercel netlify cloudflare digitalocean aws azure gcp kubernetes \
        docker podman chatgpt gpt claude gemini copilot chrome firefox safari brave edge excel word latex markdown \
        engineering product sales marketing finance support hr qa devops management operations design legal research \
        senior junior principal agile scrum kanban spring docusaurus medium substack class airport gate floor room plan phase stage step \
        level option version team group tab section chapter page part unit tier",
    modifier_endings: "",
    no_employers: "dawn dusk noon midnight height heights speed pace full-time sea heart risk ease scale random will leisure \
        length large office desk computer counter moment hours minutes seconds ages free fun food money peanuts nothing weeks months years days centuries",
    ambitions: "attend join visit travel become move retire adopt climb volunteer backpack publish graduate marry",
};

/// Each with its key.
const RELATIVES: &str = "mom=mother mum=mother mother dad=father father sister brother son daughter wife husband partner girlfriend \
         boyfriend fiancé=fiance fiancée=fiance fiance fiancee=fiance spouse grandmother grandma=grandmother \
         grandfather grandpa=grandfather aunt uncle cousin niece nephew mother-in-law father-in-law sister-in-law \
         brother-in-law stepson stepdaughter stepmother stepfather";

pub(super) const CLASSES: &[(&str, &str)] = &[
    ("allergen", allergens::ALLERGENS),
    ("allergen-ending", allergens::ENDINGS),
    ("rel", RELATIVES),
    ("relative", RELATIVES),
    ("only-one", "mother father wife husband partner girlfriend boyfriend fiance spouse"),
    ("former", "girlfriend boyfriend partner fiancé=fiance fiancée=fiance fiance fiancee=fiance"),
    ("kin-modifier", "older younger big little elder eldest oldest youngest twin"),
    (
        "pet",
        "dog cat puppy kitten parrot hamster rabbit bunny turtle tortoise horse pony bird snake goldfish ferret lizard",
    ),
    (
        "pets",
        "dogs=dog cats=cat puppies=dog kittens=cat parrots=parrot hamsters=hamster rabbits=rabbit turtles=turtle \
         horses=horse birds=bird snakes=snake",
    ),
    (
        "subject",
        "math maths mathematics physics chemistry biology history geography english spanish french german \
         italian russian chinese japanese music art yoga pilates economics philosophy literature science piano guitar \
         violin swimming dance ballet",
    ),
    ("no-pet", "hot stuffed toy dead imaginary virtual robot corn"),
    ("offspring", "kids=children children sons daughters brothers sisters siblings"),
    ("spelling", "colour=color flavour=flavor colours=color colors=color flavours=flavor"),
    ("free-from", "gluten-free dairy-free lactose-free sugar-free alcohol-free"),
    ("hand", "left-handed right-handed ambidextrous"),
    (
        "make",
        "audi bmw chevrolet citroën citroen dacia fiat ford honda hyundai jeep kia lexus mazda mercedes mini mitsubishi nissan \
         opel peugeot porsche renault seat škoda skoda subaru suzuki tesla toyota volkswagen vw volvo",
    ),
    ("part", "day morning evening night afternoon week month"),
    ("dose", "mg mcg µg μg g ml iu units"),
    ("child", "boy girl son daughter baby twins"),
    (
        "carer",
        "doctor gp=doctor physician=doctor dentist therapist psychologist psychiatrist pediatrician paediatrician=pediatrician \
         cardiologist physiotherapist gynecologist gynaecologist=gynecologist vet",
    ),
    ("event", "trip holiday vacation wedding party visit flight move honeymoon cruise"),
    ("leave", "vacation holiday holidays leave"),
    ("label", "code password passcode pin number combination address"),
    (
        "company",
        "google meta microsoft amazon nvidia intel ibm oracle salesforce stripe tesla spacex openai anthropic deloitte accenture \
         mckinsey kpmg pwc boeing siemens bosch sap cisco qualcomm goldman atlassian",
    ),
    ("number", "two three four five six seven eight 2 3 4 5 6 7 8"),
    (
        "business",
        "business company shop store bakery cafe café restaurant studio startup farm blog gym agency clinic salon",
    ),
    ("kin", "sons daughters kids children brothers sisters child kid twins siblings"),
    ("parents", "parents grandparents in-laws"),
    (
        "lang",
        "english spanish french german italian portuguese russian ukrainian polish czech dutch swedish norwegian danish \
         finnish greek turkish arabic hebrew persian farsi hindi urdu bengali tamil chinese mandarin cantonese japanese \
         korean vietnamese thai indonesian swahili catalan romanian hungarian bulgarian serbian croatian georgian \
         armenian kazakh latin esperanto irish welsh",
    ),
    ("lang-quality", "bit little of some fluent fluently basic good well also"),
    ("diet", "vegetarian vegan pescatarian flexitarian"),
    ("regime", "keto ketogenic low-carb vegan vegetarian gluten-free dairy-free paleo mediterranean halal kosher"),
    (
        "pastime",
        "guitar piano violin cello drums bass flute clarinet saxophone trumpet ukulele harp accordion harmonica banjo \
         tennis football soccer basketball baseball volleyball hockey rugby cricket golf badminton chess poker bridge",
    ),
    ("condition", "diabetic asthmatic coeliac celiac epileptic pregnant colorblind colourblind dyslexic"),
    ("disease", "diabetes asthma epilepsy adhd migraines arthritis hypertension celiac coeliac"),
    ("disease-word", "high blood pressure disease type 1 2 chronic severe mild"),
    ("status", "married single divorced engaged widowed"),
    ("workless", "retired unemployed self-employed"),
    ("jobless", "retired unemployed"),
    (
        "studies",
        "medical law phd college university graduate undergraduate nursing engineering art history physics biology chemistry \
         economics psychology",
    ),
    ("meat", "meat chicken beef pork lamb bacon"),
    ("fish", "fish seafood shrimp salmon tuna"),
    ("dairy", "dairy cheese eggs milk butter"),
    ("deadly", "cancer covid pneumonia leukemia leukaemia"),
    (
        "field",
        "marketing finance it tech healthcare education sales hr logistics construction retail hospitality advertising \
         insurance publishing journalism accounting law medicine engineering agriculture",
    ),
];

/// What is understood where "I" is left out.
pub(super) const OMITTED: &[&[&str]] = &[&["i"], &["i", "am"]];

pub(super) const INHERITS: &[(&str, &[&[&str]])] = &[("i", &[&["i"], &["i", "am"], &["i", "do"]]), ("we", &[&["we"]])];

pub(super) const CALENDAR: Calendar = Calendar {
    words: Words { code: "en" },
    names: "jan mar jun dec",
    before: "in on by from for early late back around mid the",
    since: "since",
    lasting: "for",
    loose: "weekend summer winter spring autumn fall monday tuesday wednesday thursday friday saturday sunday \
        morning evening afternoon night semester term moment weekends weekdays mondays tuesdays wednesdays thursdays \
        fridays saturdays sundays mornings evenings afternoons nights summers winters",
    on_day: "on {}",
    in_month: "in {}",
    in_year: "in {}",
    of_month: MONTHS,
    month_names: MONTHS,
};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
