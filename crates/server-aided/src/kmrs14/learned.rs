//! What the parties and the helper learn: facts, and their words.

/// What a party that receives the answer learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartyLearns {
    /// The answer.
    pub answer: Answer,
    /// Whether both parties learn it or neither does, if the helper follows the protocol.
    pub both_or_none: bool,
}

/// What the parties ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Which of its items all parties have, for any number of parties; also the size of each other
    /// set.
    CommonToAll,
    /// Which of its items both of two parties have; also the size of the other set.
    CommonToBoth,
    /// Whether two values are equal.
    Equality,
}

/// What the helper learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HelperLearns {
    /// What it learns.
    pub learned: &'static [HelperFact],
    /// What another helper of the family would learn, but this one does not.
    pub hidden: Option<HelperFact>,
}

/// Something that a helper can learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HelperFact {
    /// Who takes part.
    Parties,
    /// The size of each set.
    SetLens,
    /// How many items each group of parties has in common.
    CountOfEachGroup,
    /// How many items are common.
    Count,
    /// Whether the values are equal.
    Equality,
}

/// What the elements of the sets are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noun {
    /// Items, as in the literature.
    Items,
    /// Keys, as in an agreement.
    Keys,
}

impl PartyLearns {
    /// The party's facts in words.
    pub fn words(self, noun: Noun) -> String {
        let its = match noun {
            Noun::Items => "its items",
            Noun::Keys => "its own keys",
        };
        let mut words = match self.answer {
            Answer::CommonToAll => {
                format!("which of {its} all parties have, and the size of each other set")
            }
            Answer::CommonToBoth => {
                format!("which of {its} both parties have, and the size of the other set")
            }
            Answer::Equality => "whether the two values are equal".to_owned(),
        };
        if self.both_or_none {
            words += "; both learn it or none, where the helper follows the protocol";
        }
        words
    }
}

impl HelperLearns {
    /// The helper's facts in words.
    pub fn words(self, noun: Noun) -> String {
        let learned: Vec<String> = self.learned.iter().map(|fact| fact.words(noun)).collect();
        let learned = match &learned[..] {
            [first, second] => format!("{first} and {second}"),
            [others @ .., last] if !others.is_empty() => {
                format!("{}, and {last}", others.join(", "))
            }
            _ => learned.concat(),
        };
        match self.hidden {
            None => learned,
            Some(fact) => format!("{learned}; not {}", fact.words(noun)),
        }
    }
}

impl HelperFact {
    fn words(self, noun: Noun) -> String {
        let noun = match noun {
            Noun::Items => "items",
            Noun::Keys => "keys",
        };
        match self {
            HelperFact::Parties => "who takes part".to_owned(),
            HelperFact::SetLens => "the size of each set".to_owned(),
            HelperFact::CountOfEachGroup => {
                format!("how many {noun} each group of parties has in common")
            }
            HelperFact::Count => format!("how many {noun} are common"),
            HelperFact::Equality => "whether the values are equal".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HelperFact::{Count, CountOfEachGroup, Equality, Parties, SetLens};

    #[test]
    fn one_fact_two_and_three_are_a_list_in_words() {
        let words = |learned, hidden, noun| HelperLearns { learned, hidden }.words(noun);
        assert_eq!(
            words(&[Parties], Some(Equality), Noun::Keys),
            "who takes part; not whether the values are equal"
        );
        assert_eq!(
            words(&[Parties, SetLens], Some(Count), Noun::Items),
            "who takes part and the size of each set; not how many items are common"
        );
        assert_eq!(
            words(&[Parties, SetLens, CountOfEachGroup], None, Noun::Keys),
            "who takes part, the size of each set, and how many keys each group of parties has in \
             common"
        );
    }
}
