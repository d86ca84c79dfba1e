//! The letters with the most rules: C, G and S.

use super::Word;

impl Word<'_> {
    pub(super) fn c(&mut self) -> usize {
        // Germanic, but not `Bacci`; `Bacher`, `Macher`.
        if self.at > 1
            && !self.is_vowel(-2)
            && self.has(-1, &["ACH"])
            && self.letter(2) != b'I'
            && (self.letter(2) != b'E' || self.has(-2, &["BACHER", "MACHER"]))
        {
            self.add("K");
            return 2;
        }
        if self.is_first() && self.has(0, &["CAESAR"]) {
            self.add("S");
            return 2;
        }
        // Italian: `Chianti`.
        if self.has(0, &["CHIA"]) {
            self.add("K");
            return 2;
        }
        if self.has(0, &["CH"]) {
            self.ch();
            return 2;
        }
        // `Czerny`.
        if self.has(0, &["CZ"]) && !self.has(-2, &["WICZ"]) {
            self.add_two("S", "X");
            return 2;
        }
        // `Focaccia`.
        if self.has(1, &["CIA"]) {
            self.add("X");
            return 3;
        }
        // A double C, but not `McClellan`.
        if self.has(0, &["CC"]) && !(self.at == 1 && self.text[0] == b'M') {
            return self.cc();
        }
        if self.has(0, &["CK", "CG", "CQ"]) {
            self.add("K");
            return 2;
        }
        if self.has(0, &["CI", "CE", "CY"]) {
            // Italian or English.
            let is_italian = self.has(0, &["CIO", "CIE", "CIA"]);
            self.add_two("S", if is_italian { "X" } else { "S" });
            return 2;
        }
        self.add("K");
        // `Mac Caffrey`, `Mac Gregor`.
        if self.has(1, &[" C", " Q", " G"]) {
            return 3;
        }
        if self.has(1, &["C", "K", "Q"]) && !self.has(1, &["CE", "CI"]) { 2 } else { 1 }
    }

    fn ch(&mut self) {
        // `Michael`.
        if self.at > 0 && self.has(0, &["CHAE"]) {
            return self.add_two("K", "X");
        }
        // Greek: `chemistry`, `chorus`.
        let is_greek = self.is_first()
            && self.has(1, &["HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM"])
            && !self.starts_with(&["CHORE"]);
        // `Architect`, not `arch`; `orchestra`, `orchid`; `Wachtler`, `Wechsler`, not `Tichner`.
        let is_hard = self.is_germanic()
            || self.has(-2, &["ORCHES", "ARCHIT", "ORCHID"])
            || self.has(2, &["T", "S"])
            || (self.is_first() || self.has(-1, &["A", "O", "U", "E"]))
                && self.has(2, &["L", "R", "N", "M", "B", "H", "F", "V", "W", " "]);
        if is_greek || is_hard {
            self.add("K");
        } else if self.is_first() {
            self.add("X");
        } else if self.starts_with(&["MC"]) {
            // `McHugh`.
            self.add("K");
        } else {
            self.add_two("X", "K");
        }
    }

    fn cc(&mut self) -> usize {
        // `Bellocchio`, but not `Bacchus`.
        if self.has(2, &["I", "E", "H"]) && !self.has(2, &["HU"]) {
            // `Accident`, `accede`, `succeed`; `Bacci`, `Bertucci`.
            let is_two = self.at == 1 && self.text[0] == b'A' || self.has(-1, &["UCCEE", "UCCES"]);
            self.add(if is_two { "KS" } else { "X" });
            return 3;
        }
        self.add("K");
        2
    }

    pub(super) fn g(&mut self) -> usize {
        if self.letter(1) == b'H' {
            self.gh();
            return 2;
        }
        if self.letter(1) == b'N' {
            if self.at == 1 && self.is_vowel(-1) && !self.is_slavo_germanic {
                self.add_two("KN", "N");
            } else if !self.has(2, &["EY"]) && !self.is_slavo_germanic {
                // Not `Cagney`.
                self.add_two("N", "KN");
            } else {
                self.add("KN");
            }
            return 2;
        }
        // `Tagliaro`.
        if self.has(1, &["LI"]) && !self.is_slavo_germanic {
            self.add_two("KL", "L");
            return 2;
        }
        let starts = ["Y", "ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER"];
        if self.is_first() && self.has(1, &starts) {
            self.add_two("K", "J");
            return 2;
        }
        if self.has(1, &["ER", "Y"])
            && !self.starts_with(&["DANGER", "RANGER", "MANGER"])
            && !self.has(-1, &["E", "I", "RGY", "OGY"])
        {
            self.add_two("K", "J");
            return 2;
        }
        // Italian: `Biaggi`.
        if self.has(1, &["E", "I", "Y"]) || self.has(-1, &["AGGI", "OGGI"]) {
            if self.is_germanic() || self.has(1, &["ET"]) {
                self.add("K");
            } else if self.has(1, &["IER "]) {
                // A French end is always soft.
                self.add("J");
            } else {
                self.add_two("J", "K");
            }
            return 2;
        }
        self.plain("K", "G")
    }

    fn gh(&mut self) {
        if self.at > 0 && !self.is_vowel(-1) {
            return self.add("K");
        }
        if self.is_first() {
            // `Ghislane`, `Ghiradelli`.
            return self.add(if self.letter(2) == b'I' { "J" } else { "K" });
        }
        // Parker's rule: `Hugh`, `bough`, `Broughton`.
        let is_silent = self.at > 1 && self.has(-2, &["B", "H", "D"])
            || self.at > 2 && self.has(-3, &["B", "H", "D"])
            || self.at > 3 && self.has(-4, &["B", "H"]);
        if is_silent {
            return;
        }
        if self.at > 2 && self.letter(-1) == b'U' && self.has(-3, &["C", "G", "L", "R", "T"]) {
            // `Laugh`, `McLaughlin`, `cough`, `Gough`, `rough`, `tough`.
            self.add("F");
        } else if self.letter(-1) != b'I' {
            self.add("K");
        }
    }

    pub(super) fn s(&mut self) -> usize {
        // `Island`, `Carlisle`, `Carlysle`.
        if self.has(-1, &["ISL", "YSL"]) {
            return 1;
        }
        if self.is_first() && self.has(0, &["SUGAR"]) {
            self.add_two("X", "S");
            return 1;
        }
        if self.has(0, &["SH"]) {
            let is_germanic = self.has(1, &["HEIM", "HOEK", "HOLM", "HOLZ"]);
            self.add(if is_germanic { "S" } else { "X" });
            return 2;
        }
        // Italian and Armenian.
        if self.has(0, &["SIO", "SIA"]) {
            self.add_two("S", if self.is_slavo_germanic { "S" } else { "X" });
            return 3;
        }
        // `Smith` meets `Schmidt`, `Snider` meets `Schneider`; and the Slavic `sz`.
        if self.is_first() && self.has(1, &["M", "N", "L", "W"]) || self.has(1, &["Z"]) {
            self.add_two("S", "X");
            return self.with_next("Z");
        }
        if self.has(0, &["SC"]) {
            self.sc();
            return 3;
        }
        // French: `Resnais`, `Artois`.
        let is_french = self.is_last() && self.has(-2, &["AI", "OI"]);
        self.add_two(if is_french { "" } else { "S" }, "S");
        self.with_next("SZ")
    }

    fn sc(&mut self) {
        // Schlesinger's rule.
        if self.letter(2) == b'H' {
            if self.has(3, &["ER", "EN"]) {
                // `Schermerhorn`, `Schenker`.
                self.add_two("X", "SK");
            } else if self.has(3, &["OO", "UY", "ED", "EM"]) {
                // Dutch: `school`, `schooner`.
                self.add("SK");
            } else if self.is_first() && !self.is_vowel(3) && self.letter(3) != b'W' {
                self.add_two("X", "S");
            } else {
                self.add("X");
            }
        } else if self.has(2, &["I", "E", "Y"]) {
            self.add("S");
        } else {
            self.add("SK");
        }
    }
}
