//! What people are allergic to, in the singular.

pub(super) const ALLERGENS: &str = "nut peanut almond cashew walnut pistachio pecan hazelnut macadamia sesame seed mustard \
    celery lupin soy soya soybean wheat gluten barley rye oat corn maize rice bread flour yeast buckwheat quinoa milk \
    dairy lactose casein whey cheese butter cream yogurt yoghurt egg eggs meat beef pork chicken turkey lamb poultry \
    gelatin fish salmon tuna cod sardine anchovy shellfish shrimp prawn crab lobster crayfish clam mussel oyster \
    scallop squid octopus calamari mollusc mollusk crustacean seafood roe caviar fruit apple pear peach plum apricot \
    cherry kiwi banana mango pineapple papaya avocado melon watermelon cantaloupe grape orange lemon lime citrus \
    grapefruit fig date coconut pomegranate lychee vegetable tomato potato carrot eggplant aubergine pepper paprika \
    chili chilli garlic onion leek ginger cinnamon cilantro coriander parsley spinach cucumber zucchini lettuce \
    cabbage broccoli asparagus mushroom bean pea lentil chickpea legume chickpeas chocolate cocoa cacao coffee \
    caffeine tea alcohol wine beer honey sugar spice vanilla sulfite sulphite sulfites msg dye preservative additive \
    food cat dog pet animal horse rabbit hamster bird feather hair fur dander wool down bee wasp hornet ant mosquito \
    insect sting bite venom spider flea cockroach mite dust dust-mite mold mould pollen ragweed grass hay tree birch oak \
    cedar pine weed flower lily rose plant ivy latex rubber nickel gold silver metal cobalt chrome perfume fragrance \
    scent detergent bleach soap lanolin parabens paraben adhesive bandage plaster formaldehyde henna sunscreen makeup \
    cosmetics smoke drug medicine medication antibiotic penicillin amoxicillin ampicillin cephalosporin sulfa \
    sulfonamide aspirin ibuprofen naproxen paracetamol acetaminophen nsaid codeine morphine opioid opiate \
    anesthetic anesthesia anaesthetic lidocaine novocaine novocain insulin vaccine iodine contrast statin tetracycline \
    clindamycin erythromycin heparin metformin plasters";

/// Endings that make an allergen of any word.
pub(super) const ENDINGS: &str = "berry nut fish seed cillin mycin profen cycline caine floxacin azole";
