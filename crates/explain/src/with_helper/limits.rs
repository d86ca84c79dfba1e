//! What is not protected, and what stays afterwards.

use super::Words;
use vesica_agreement::figures::grouped;
use vesica_protocols::kmrs14::Variant;

impl Words<'_> {
    pub(super) fn unprotected(&self) -> Vec<String> {
        let (helper, agreement) = (self.helper, self.agreement);
        let several = agreement.receivers.len() > 1;
        let mut points = vec![format!(
            "Anything, if {helper} and a party work together: see \"What is assumed\" above."
        )];
        points.push(match agreement.variant() {
            Variant::Pet => "That each party brings one value.".to_owned(),
            Variant::SizeHiding => {
                format!("The sizes of the sets: {helper} and both parties learn them.")
            }
            _ => format!(
                "The sizes of the sets, and for {helper} how many keys are common{}.",
                match self.parties().len() {
                    2 => "",
                    _ =>
                        ", to all parties and to each group of them: it sees which parties have \
                         each label",
                }
            ),
        });
        points.extend(self.unfair());
        if agreement.variant().hides_size() {
            let [first, second] = [0, 1].map(|party| &agreement.parties[party].name);
            points.push(format!(
                "Which keys are common, from {helper}, if it runs modified software. It can \
                 replace some labels and see whether {second} continues, which shows whether those \
                 labels belonged to common keys. It can do the same with {first}: two questions in \
                 each run. It is detected if one of the labels belonged to a common key, and not \
                 detected otherwise."
            ));
        }
        points.push(match agreement.variant() {
            Variant::Pet => format!(
                "Lying about one's input. Either party can enter any value: each run is one guess \
                 at the other's value. With modified software a party has up to {} guesses, and \
                 the other notices only if one of them is right.",
                grouped(self.guesses(1))
            ),
            _ => {
                let rows =
                    agreement.receivers.iter().map(|party| agreement.parties[*party].max_rows);
                let rows = rows.max().unwrap_or_default();
                format!(
                    "Lying about one's input. {} can enter keys that are not in its data, and \
                     learn which of them all others have: up to max_rows guesses in each run, \
                     {}{}. Every party can leave keys out.",
                    if several {
                        "Each party that receives the result".to_owned()
                    } else {
                        self.receivers()
                    },
                    grouped(rows),
                    match agreement.variant() {
                        // Its list is made again by the helper.
                        Variant::Fair => String::new(),
                        Variant::SemiHonest => format!(
                            " (with modified software {}, in place of its own made-up keys)",
                            grouped(self.guesses(rows))
                        ),
                        _ => format!(
                            " (with modified software up to {}, of which the other notices only \
                             those that are right)",
                            grouped(self.guesses(rows))
                        ),
                    }
                )
            }
        });
        points.push(format!(
            "The availability of {helper}. If it refuses to answer, the run ends without a result."
        ));
        points.push(
            "Repeated runs. Two runs on nearly the same data reveal what changed between them. \
             Labels of two runs cannot be compared, because each run has its own secret. The \
             agreement does not limit how often it is run."
                .to_owned(),
        );
        points.push(format!(
            "What {} with the result. The software cannot control that; your contract can.",
            if several {
                "the parties do".to_owned()
            } else {
                format!("{} does", self.receivers())
            },
        ));
        points.push(format!(
            "The fact that a run took place, its time and duration, and, from {helper}, the \
             network address of each party."
        ));
        points
    }

    /// The guesses of a party with `rows` rows that sends one label for each guess, in place of
    /// copies and of its own dummies.
    pub(super) fn guesses(&self, rows: u64) -> u64 {
        self.check().labels(rows) - u64::from(self.check().dummies)
    }

    /// Which party can be the only one to get the result.
    fn unfair(&self) -> Vec<String> {
        let (helper, agreement) = (self.helper, self.agreement);
        let names: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
        let one_alone =
            format!("{helper} can give the result to one party and withhold it from another");
        let point = match agreement.variant() {
            Variant::Fair => {
                format!("Fairness, if {helper} runs modified software: {one_alone}.")
            }
            Variant::SizeHiding => format!(
                "Fairness. {second} learns the result first, and can withhold it from {first}. \
                 Before that, {first} learns how many keys are common, and can stop then.",
                first = names[0],
                second = names[1],
            ),
            Variant::Pet => format!(
                "Fairness. {first} compares the labels, and can stop when it knows whether the \
                 values are equal; {second} then learns nothing. {second} can withhold from \
                 {first} the data needed to check that.",
                first = names[0],
                second = names[1],
            ),
            _ if agreement.receivers.len() < 2 => return Vec::new(),
            Variant::Malicious => format!(
                "Fairness. {one_alone}. A party that runs modified software can spoil the result \
                 of the other, which notices that it is wrong, and still get its own."
            ),
            _ => format!("Fairness. {one_alone}."),
        };
        vec![point]
    }

    pub(super) fn afterwards(&self) -> Vec<String> {
        let helper = self.helper;
        let keeps = self.each_receiver("keeps its result file", "keep their result file");
        let until = match self.agreement.expires {
            Some(day) => format!("It can be run until the end of {day} (UTC), not later."),
            None => "It does not expire.".to_owned(),
        };
        vec![
            format!(
                "On disk {keeps}, and each party its report and log, if it asked for them. Reports \
                 contain counts; logs contain neither keys nor results."
            ),
            format!(
                "{helper} keeps the parties' labels and its answer until all parties have received \
                 their part, and then deletes them. The parties cannot verify that: anyone who \
                 gets the labels later, and the secret of the run, can still test guesses."
            ),
            "A party keeps the secret of the run until its part is done, so that it can continue \
             after an interruption, and then deletes it. Nothing of another party's data is kept."
                .to_owned(),
            until,
        ]
    }
}
