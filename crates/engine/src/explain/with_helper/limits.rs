//! What is not protected, and what stays afterwards.

use super::Words;
use crate::explain::grouped;
use vesica_protocols::kmrs14::Variant;

impl Words<'_> {
    pub(super) fn unprotected(&self) -> Vec<String> {
        let (helper, agreement) = (self.helper, self.agreement);
        let several = agreement.receivers.len() > 1;
        let mut points = vec![format!(
            "Anything, against {helper} and a party together: see above what is assumed."
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
                        ", to all and to any of the parties: it sees which parties have each label",
                }
            ),
        });
        points.extend(self.unfair());
        if agreement.variant().hides_size() {
            let [first, second] = [0, 1].map(|party| &agreement.parties[party].name);
            points.push(format!(
                "What is common, against {helper}, if it runs changed software. It can replace some \
                 labels and see whether {second} goes on, which tells it whether they were of common \
                 keys; and again with {first}: two questions a run. It is found out where one of them \
                 was, and not where none was."
            ));
        }
        points.push(match agreement.variant() {
            Variant::Pet => format!(
                "Lying about one's input. Either party can bring any value: a run is one guess at the \
                 other's. One that runs changed software has up to {} guesses, and the other sees \
                 that something is wrong only where one of them is right.",
                grouped(self.guesses(1))
            ),
            _ => {
                let rows = agreement.receivers.iter().map(|party| agreement.parties[*party].max_rows);
                let rows = rows.max().unwrap_or_default();
                format!(
                    "Lying about one's input. {} can bring keys that are none of its customers, and \
                     learn which of them all others have: as many guesses a run as its max_rows, {}{}. \
                     Every party can leave keys out.",
                    if several { "Each party that receives the result".to_owned() } else { self.receivers() },
                    grouped(rows),
                    match agreement.variant() {
                        // Its list is made again by the helper.
                        Variant::Fair => String::new(),
                        Variant::SemiHonest => format!(
                            "; with changed software {}, in place of its own made-up keys",
                            grouped(self.guesses(rows))
                        ),
                        _ => format!(
                            "; with changed software up to {}, of which the other notices only those \
                             that are right",
                            grouped(self.guesses(rows))
                        ),
                    }
                )
            }
        });
        points.push(format!(
            "That {helper} answers at all. It can refuse, and the run ends without a result."
        ));
        points.push(
            "Repeated runs. Two runs on nearly the same data tell what changed between them. Labels of \
             two runs cannot be compared: their secret is another. The agreement does not limit how \
             often it runs."
                .to_owned(),
        );
        points.push(format!(
            "What {} with the result. The agreement cannot see it; your contract can.",
            if several {
                "the parties do".to_owned()
            } else {
                format!("{} does", self.receivers())
            },
        ));
        points.push(format!(
            "That a run took place, its time and duration, and to {helper} the network address of \
             each party."
        ));
        points
    }

    /// Guesses of a party with `rows` rows that sends one label of each, in place of copies and of its own dummies.
    fn guesses(&self, rows: u64) -> u64 {
        self.check().labels(rows) - u64::from(self.check().dummies)
    }

    /// Who can get the result alone.
    fn unfair(&self) -> Vec<String> {
        let (helper, agreement) = (self.helper, self.agreement);
        let names: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
        let one_alone =
            format!("{helper} can give the result to one party and keep it from another");
        let point = match agreement.variant() {
            Variant::Fair => {
                format!("Fairness, if {helper} runs changed software: {one_alone}.")
            }
            Variant::SizeHiding => format!(
                "Fairness. {second} learns the result first, and can keep it from {first}. {first} \
                 learns before that how many keys are common, and can stop then.",
                first = names[0],
                second = names[1],
            ),
            Variant::Pet => format!(
                "Fairness. {first} compares the labels, and can stop when it knows whether the values \
                 are equal; {second} then learns nothing. {second} can keep from {first} what it needs \
                 to check that.",
                first = names[0],
                second = names[1],
            ),
            _ if agreement.receivers.len() < 2 => return Vec::new(),
            Variant::Malicious => format!(
                "Fairness. {one_alone}. A party that runs changed software can spoil the result of the \
                 other, who sees that it is wrong, and have its own."
            ),
            _ => format!("Fairness. {one_alone}."),
        };
        vec![point]
    }

    pub(super) fn afterwards(&self) -> Vec<String> {
        let helper = self.helper;
        let keeps = self.each_receiver(("keeps its result file", "keep their result file"));
        let until = match self.agreement.expires {
            Some(day) => format!("It can be run until the end of {day} (UTC), not later."),
            None => "It does not expire.".to_owned(),
        };
        vec![
            format!(
                "On disk {keeps}, and each party the report and log it asked for. Reports hold counts, \
                 logs neither keys nor results."
            ),
            format!(
                "{helper} keeps the parties' labels and its answer until all parties have what is theirs, \
                 and deletes them then. Nobody can see whether it does: whoever comes by them later and \
                 by the secret of the run can still test guesses."
            ),
            "A party keeps the secret of the run until its part is done, so that it can go on after an \
             interruption, and deletes it then. Nothing of another party's data is kept."
                .to_owned(),
            until,
        ]
    }
}
