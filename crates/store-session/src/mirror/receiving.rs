//! Receiving the messages of the other side of a mirror.

use super::wire::{Fault, HAVE, Kind, LEAVE, OBJECT, read, read_name};
use super::{Core, HAVE_MAX, OBJECT_COST_BYTES, READ_BYTES, SMALL_MAX, UNASKED_MAX_BYTES, run_of};
use crate::name::lengths_of;
use crate::object::{self, HELLO};
use crate::store::Store;
use std::collections::HashSet;
use std::time::Instant;
use vesica_net::StreamReader;

impl Core {
    /// Receives messages and stores their objects, until the connection ends or a message is wrong.
    pub(super) fn receive(&self, reader: &mut dyn StreamReader) -> Result<(), Fault> {
        let hello_of = |party: u8, name: &str| object::name(run_of(name), party, HELLO);
        loop {
            let [kind] = read(reader)?;
            match kind {
                HAVE => {
                    let count = u32::from_le_bytes(read(reader)?);
                    let mut names = HashSet::new();
                    if count > HAVE_MAX || self.line().knows {
                        return Err(Fault::There);
                    }
                    for _ in 0..count {
                        names.insert(read_name(reader)?);
                    }
                    let (mut awaited, mut unknown) = (HashSet::new(), Vec::new());
                    let hello = |name: &str| hello_of(self.own, name);
                    for name in &names {
                        let kind = Kind::of(name, &self.prefix, self.own).ok_or(Fault::There)?;
                        // A party that writes its hello again writes the same one.
                        if is_of(name, self.own)
                            && *name != hello(name)
                            && !self.line().sent.contains(name)
                        {
                            unknown.push((kind.rank(), name.clone()));
                        }
                        let is_numbered = matches!(kind, Kind::Numbered | Kind::Own);
                        if !is_numbered && !self.local.has(name) {
                            awaited.insert(name.clone());
                        }
                    }
                    // The object that this side sent first comes first.
                    unknown.sort_unstable();
                    let unknown = unknown.into_iter().map(|(_, name)| name).collect();
                    let mut line = self.line();
                    (line.unknown, line.moved) = (unknown, Some(Instant::now()));
                    line.check().map_err(|_| Fault::SetBack)?;
                    line.has_met |= awaited.is_empty();
                    line.awaited = awaited;
                    let started =
                        names.iter().filter(|name| **name == hello_of(1 - self.own, name));
                    line.runs = started.map(|name| run_of(name).to_owned()).collect();
                    line.theirs.extend(names);
                    line.knows = true;
                }
                OBJECT => {
                    let name = read_name(reader)?;
                    let len = u32::from_le_bytes(read(reader)?).into();
                    let kind = Kind::of(&name, &self.prefix, self.own).ok_or(Fault::There)?;
                    match kind {
                        Kind::Numbered if self.local.has(&hello_of(self.own, &name)) => {}
                        Kind::Numbered | Kind::Own => return Err(Fault::There),
                        Kind::Hello | Kind::Shares | Kind::Last => {}
                    }
                    let most = lengths_of(&name).most();
                    {
                        let mut line = self.line();
                        line.small += u32::from(kind != Kind::Numbered);
                        if len > most || line.small > SMALL_MAX || !line.knows {
                            return Err(Fault::There);
                        }
                    }
                    self.wait_for_room()?;
                    let mut bytes = Vec::new();
                    while (bytes.len() as u64) < len {
                        let begin = bytes.len();
                        bytes.resize(begin + READ_BYTES.min(len as usize - begin), 0);
                        reader.read_exact(&mut bytes[begin..])?;
                        self.line().moved = Some(Instant::now());
                    }
                    // Count the object as not asked for before the run can ask for it.
                    if kind == Kind::Numbered && !self.local.has(&name) {
                        let mut line = self.line();
                        line.unasked.insert(name.clone(), len + OBJECT_COST_BYTES);
                        line.unasked_bytes += len + OBJECT_COST_BYTES;
                    }
                    self.local.put_if_absent(&name, &bytes).map_err(Fault::here)?;
                    let mut line = self.line();
                    line.moved = Some(Instant::now());
                    if name == hello_of(1 - self.own, &name) {
                        line.runs.insert(run_of(&name).to_owned());
                    }
                    line.awaited.remove(&name);
                    line.has_met |= line.awaited.is_empty();
                    line.theirs.insert(name);
                }
                LEAVE => self.line().has_left = true,
                _ => return Err(Fault::There),
            }
            self.changed.notify_all();
        }
    }

    /// Waits while there are too many bytes that the run has not asked for.
    fn wait_for_room(&self) -> Result<(), Fault> {
        let mut line = self.line();
        while line.unasked_bytes > UNASKED_MAX_BYTES {
            if line.connection.is_none() {
                return Err(Fault::Line);
            }
            line = self.wait(line);
        }
        Ok(())
    }
}

/// Whether the object `name` is one of `party`.
fn is_of(name: &str, party: u8) -> bool {
    name.split_once('/').is_some_and(|(_, object)| object.starts_with(&format!("{party}-")))
}
