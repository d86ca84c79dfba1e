//! The letters with fewer rules.

use super::Word;

impl Word<'_> {
    pub(super) fn d(&mut self) -> usize {
        if self.has(0, &["DG"]) {
            if self.has(2, &["I", "E", "Y"]) {
                // `Edge`.
                self.add("J");
                return 3;
            }
            // `Edgar`.
            self.add("TK");
            return 2;
        }
        self.plain("T", "DT")
    }

    pub(super) fn h(&mut self) -> usize {
        // At the start before a vowel, or between two.
        if (self.is_first() || self.is_vowel(-1)) && self.is_vowel(1) {
            self.add("H");
            return 2;
        }
        1
    }

    pub(super) fn j(&mut self) -> usize {
        // Spanish: `Jose`, `San Jacinto`.
        let is_san = self.starts_with(&["SAN "]);
        if self.has(0, &["JOSE"]) || is_san {
            let is_whole = self.is_first() && self.letter(4) == b' ';
            self.add_two(if is_whole || is_san { "H" } else { "J" }, "H");
            return 1;
        }
        if self.is_first() {
            // `Yankelovich` meets `Jankelowicz`.
            self.add_two("J", "A");
        } else if self.is_vowel(-1) && !self.is_slavo_germanic && self.has(1, &["A", "O"]) {
            // Spanish: `bajador`.
            self.add_two("J", "H");
        } else if self.is_last() {
            self.add_two("J", "");
        } else if !self.has(1, &["L", "T", "K", "S", "N", "M", "B", "Z"])
            && !self.has(-1, &["S", "K", "L"])
        {
            self.add("J");
        }
        self.with_next("J")
    }

    pub(super) fn l(&mut self) -> usize {
        if self.letter(1) != b'L' {
            return self.plain("L", "");
        }
        // Spanish: `Cabrillo`, `Gallegos`.
        let len = self.text.len();
        let ends = |texts: &[&str]| texts.iter().any(|text| self.text.ends_with(text.as_bytes()));
        let is_spanish = self.at + 3 == len && self.has(-1, &["ILLO", "ILLA", "ALLE"])
            || ends(&["AS", "OS", "A", "O"]) && self.has(-1, &["ALLE"]);
        self.add_two("L", if is_spanish { "" } else { "L" });
        2
    }

    pub(super) fn m(&mut self) -> usize {
        self.add("M");
        // `Dumb`, `thumb`, `Plumber`.
        let is_silent_b =
            self.has(-1, &["UMB"]) && (self.at + 2 == self.text.len() || self.has(2, &["ER"]));
        if is_silent_b { 2 } else { self.with_next("M") }
    }

    pub(super) fn p(&mut self) -> usize {
        if self.letter(1) == b'H' {
            self.add("F");
            return 2;
        }
        // `Campbell`, `raspberry`.
        self.plain("P", "PB")
    }

    pub(super) fn r(&mut self) -> usize {
        // French: `Rogier`, but not `Hochmeier`.
        let is_french = self.is_last()
            && !self.is_slavo_germanic
            && self.has(-2, &["IE"])
            && !self.has(-4, &["ME", "MA"]);
        self.add_two(if is_french { "" } else { "R" }, "R");
        self.with_next("R")
    }

    pub(super) fn t(&mut self) -> usize {
        if self.has(0, &["TION", "TIA", "TCH"]) {
            self.add("X");
            return 3;
        }
        if self.has(0, &["TH", "TTH"]) {
            // `Thomas`, `Thames`, and Germanic names.
            let is_hard = self.has(2, &["OM", "AM"]) || self.is_germanic();
            self.add_two(if is_hard { "T" } else { "0" }, "T");
            return 2;
        }
        self.plain("T", "TD")
    }

    pub(super) fn w(&mut self) -> usize {
        if self.has(0, &["WR"]) {
            self.add("R");
            return 2;
        }
        if self.is_first() && self.is_vowel(1) {
            // `Wasserman` meets `Vasserman`.
            self.add_two("A", "F");
        } else if self.is_first() && self.has(0, &["WH"]) {
            self.add("A");
        }
        // `Arnow` meets `Arnoff`.
        if self.is_last() && self.is_vowel(-1)
            || self.has(-1, &["EWSKI", "EWSKY", "OWSKI", "OWSKY"])
            || self.starts_with(&["SCH"])
        {
            self.add_two("", "F");
            return 1;
        }
        // Polish: `Filipowicz`.
        if self.has(0, &["WICZ", "WITZ"]) {
            self.add_two("TS", "FX");
            return 4;
        }
        1
    }

    pub(super) fn x(&mut self) -> usize {
        // French: `Breaux`.
        let is_silent =
            self.is_last() && (self.has(-3, &["IAU", "EAU"]) || self.has(-2, &["AU", "OU"]));
        if !is_silent {
            self.add("KS");
        }
        self.with_next("CX")
    }

    pub(super) fn z(&mut self) -> usize {
        // The `zh` of pinyin.
        if self.letter(1) == b'H' {
            self.add("J");
            return 2;
        }
        let is_italian = self.has(1, &["ZO", "ZI", "ZA"]);
        let is_slavic = self.is_slavo_germanic && self.at > 0 && self.letter(-1) != b'T';
        self.add_two("S", if is_italian || is_slavic { "TS" } else { "S" });
        self.with_next("Z")
    }
}
