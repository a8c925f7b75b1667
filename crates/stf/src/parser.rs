//! Reading scripts.

use crate::lexer::{Line, ParseError};
use crate::script::{Call, Command, Comparison, CounterCell, Expected, Quantity, Script, Verb};
use engine::{CrcParameters, CrcWidth};

/// All words with which a command can begin.
const VERBS: &str = "add, setdefault, remove, check_counter, packet, expect, no_packet, wait, \
    mirroring_add, mirroring_add_mc, mirroring_delete, mirroring_get, mc_mgrp_create, \
    mc_node_create, mc_node_update, mc_node_associate, counter_read, counter_write, register_read, \
    register_write, register_reset, meter_get_rates, meter_set_rates, meter_array_set_rates, \
    set_crc16_parameters, set_crc32_parameters";

impl Script {
    /// Parses a script. Returns all errors at once.
    pub fn parse(text: &str) -> Result<Script, Vec<ParseError>> {
        let mut script = Script::default();
        let mut errors = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            let mut line = Line::new(number, text);
            if line.is_empty() {
                continue;
            }
            match command(&mut line).and_then(|verb| line.end().map(|()| verb)) {
                Ok(verb) => script.commands.push(Command {
                    line: line.number(),
                    verb,
                }),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(script)
        } else {
            Err(errors)
        }
    }
}

fn command(line: &mut Line) -> Result<Verb, ParseError> {
    let unknown = line.error(format!("a command: {VERBS}"));
    let word = line
        .take(|c| c.is_alphanumeric() || c == '_')
        .to_ascii_lowercase();
    Ok(match word.as_str() {
        "add" => add(line)?,
        "setdefault" => Verb::SetDefault {
            table: line.name("a table")?,
            action: call(line)?,
        },
        "remove" => {
            let what = line.error("`all`");
            match line.take(char::is_alphanumeric).eq_ignore_ascii_case("all") {
                true => Verb::RemoveAll,
                false => return Err(what),
            }
        }
        "check_counter" => check_counter(line)?,
        "packet" => packet(line)?,
        "expect" => expect(line)?,
        "no_packet" => Verb::NoPacket,
        "wait" => Verb::Wait,
        "mirroring_add" => Verb::MirroringAdd(session(line)?, port(line)?),
        "mirroring_add_mc" => Verb::MirroringAddMc(session(line)?, group(line)?),
        "mirroring_delete" => Verb::MirroringDelete(session(line)?),
        "mirroring_get" => Verb::MirroringGet(session(line)?),
        "mc_mgrp_create" => Verb::GroupCreate(group(line)?),
        "mc_node_create" => Verb::NodeCreate(line.integer("an egress_rid")?, ports(line)?),
        "mc_node_update" => Verb::NodeUpdate(node(line)?, ports(line)?),
        "mc_node_associate" => Verb::NodeAssociate(group(line)?, node(line)?),
        "counter_read" => Verb::CounterRead(line.name("a counter")?, index(line)?),
        "counter_write" => Verb::CounterWrite(
            line.name("a counter")?,
            index(line)?,
            line.integer("a number of packets")?,
            line.integer("a number of octets")?,
        ),
        "register_read" => Verb::RegisterRead(line.name("a register")?, index(line)?),
        "register_write" => Verb::RegisterWrite(
            line.name("a register")?,
            index(line)?,
            line.number_token("a value")?,
        ),
        "register_reset" => Verb::RegisterReset(line.name("a register")?),
        "meter_get_rates" => Verb::MeterGetRates(line.name("a meter")?, index(line)?),
        "meter_set_rates" => Verb::MeterSetRates(line.name("a meter")?, index(line)?, rates(line)?),
        "meter_array_set_rates" => Verb::MeterArraySetRates(line.name("a meter")?, rates(line)?),
        "set_crc16_parameters" => crc_parameters(line, CrcWidth::W16)?,
        "set_crc32_parameters" => crc_parameters(line, CrcWidth::W32)?,
        _ => return Err(unknown),
    })
}

fn port(line: &mut Line) -> Result<u16, ParseError> {
    line.integer("a port number")
}

fn session(line: &mut Line) -> Result<u16, ParseError> {
    line.integer("a number of a clone session")
}

fn group(line: &mut Line) -> Result<u16, ParseError> {
    line.integer("a number of a multicast group")
}

fn node(line: &mut Line) -> Result<u32, ParseError> {
    line.integer("a number of a node")
}

fn index(line: &mut Line) -> Result<u64, ParseError> {
    line.integer("an index")
}

fn ports(line: &mut Line) -> Result<Vec<u16>, ParseError> {
    let mut ports = vec![port(line)?];
    while !line.is_empty() {
        ports.push(port(line)?);
    }
    Ok(ports)
}

fn add(line: &mut Line) -> Result<Verb, ParseError> {
    let table = line.name("a table")?;
    let priority = line.integer("a priority").ok();
    let mut matches = Vec::new();
    let action = loop {
        let name = line.name("a key (`name:value`) or an action (`name(…)`)")?;
        if line.eat(":") {
            matches.push((
                name,
                line.number_token("a value, such as 10, 0x0a, 0x0*, 0x0a00/8, 1->9")?,
            ));
        } else {
            break call_after(line, name)?;
        }
    };
    let id = if line.eat("=") {
        Some(entry_name(line, "a name for the entry")?)
    } else {
        None
    };
    Ok(Verb::Add {
        table,
        priority,
        matches,
        action,
        id,
    })
}

/// The name of an entry. `A` and `$A` are the same name, because scripts of p4c define one and refer to the other.
fn entry_name(line: &mut Line, what: &str) -> Result<String, ParseError> {
    let name = line.name(what)?;
    Ok(name.strip_prefix('$').map(String::from).unwrap_or(name))
}

fn call(line: &mut Line) -> Result<Call, ParseError> {
    let name = line.name("an action")?;
    call_after(line, name)
}

fn call_after(line: &mut Line, name: String) -> Result<Call, ParseError> {
    line.expect("(")?;
    let mut args = Vec::new();
    while !line.eat(")") {
        if !args.is_empty() {
            line.expect(",")?;
        }
        let arg = line.name("a parameter's name or `)`")?;
        line.expect(":")?;
        args.push((arg, line.number_token("a value")?));
    }
    Ok(Call { name, args })
}

fn check_counter(line: &mut Line) -> Result<Verb, ParseError> {
    let counter = line.name("a counter")?;
    line.expect("(")?;
    let cell = match line.integer("an index") {
        Ok(index) => CounterCell::Index(index),
        Err(_) => CounterCell::Entry(entry_name(line, "an index or the name of an entry")?),
    };
    line.expect(")")?;
    if line.is_empty() {
        return Ok(Verb::CheckCounter {
            counter,
            cell,
            check: None,
        });
    }
    let quantity = if line.eat("packets") {
        Quantity::Packets
    } else if line.eat("bytes") {
        Quantity::Octets
    } else {
        return Err(line.error("`packets` or `bytes`"));
    };
    use Comparison::*;
    // Longer symbols come first.
    let symbols = [Equal, NotEqual, LessOrEqual, GreaterOrEqual, Less, Greater];
    let Some(comparison) = symbols.into_iter().find(|c| line.eat(c.symbol())) else {
        return Err(line.error("one of ==, !=, <, <=, >, >="));
    };
    let check = Some((quantity, comparison, line.integer("a number")?));
    Ok(Verb::CheckCounter {
        counter,
        cell,
        check,
    })
}

fn packet(line: &mut Line) -> Result<Verb, ParseError> {
    let port = port(line)?;
    let mut nibbles = Vec::new();
    while !line.is_empty() {
        let bad = line.error("octets in hexadecimal");
        let word = line.take(|c| c.is_ascii_hexdigit());
        if word.is_empty() {
            return Err(bad);
        }
        nibbles.extend(
            word.chars()
                .filter_map(|c| c.to_digit(16))
                .map(|nibble| nibble as u8),
        );
    }
    let (octets, rest) = nibbles.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(line.error("an even number of digits"));
    }
    let octets = octets.iter().map(|[high, low]| high << 4 | low).collect();
    Ok(Verb::Packet { port, octets })
}

fn expect(line: &mut Line) -> Result<Verb, ParseError> {
    let port = port(line)?;
    if line.is_empty() {
        return Ok(Verb::Expect {
            port,
            expected: None,
        });
    }
    let mut expected = Expected {
        nibbles: Vec::new(),
        exact: false,
    };
    while !line.is_empty() {
        if line.eat("$") {
            expected.exact = true;
            line.end()?;
            break;
        }
        let bad = line.error("octets in hexadecimal, `*` for any digit, `$` for the packet's end");
        let word = line.take(|c| c.is_ascii_hexdigit() || c == '*');
        if word.is_empty() {
            return Err(bad);
        }
        let nibble = |c: char| c.to_digit(16).map(|nibble| nibble as u8);
        expected.nibbles.extend(word.chars().map(nibble));
    }
    Ok(Verb::Expect {
        port,
        expected: Some(expected),
    })
}

fn crc_parameters(line: &mut Line, width: CrcWidth) -> Result<Verb, ParseError> {
    let calculation = line.name("a calculation")?;
    let parameters = CrcParameters {
        polynomial: line.integer("a polynomial")?,
        initial: line.integer("an initial remainder")?,
        final_xor: line.integer("a final exclusive or")?,
        reflect_data: truth(line)?,
        reflect_remainder: truth(line)?,
    };
    Ok(Verb::SetCrcParameters(calculation, width, parameters))
}

fn truth(line: &mut Line) -> Result<bool, ParseError> {
    let bad = line.error("`true` or `false`");
    match line
        .take(char::is_alphanumeric)
        .to_ascii_lowercase()
        .as_str()
    {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(bad),
    }
}

fn rates(line: &mut Line) -> Result<Vec<(f64, u64)>, ParseError> {
    let mut rates = Vec::new();
    while !line.is_empty() {
        let bad = line.error("a rate per microsecond");
        let word = line.take(|c| c.is_ascii_digit() || ".eE-".contains(c));
        let rate = word.parse().map_err(|_| bad)?;
        line.expect(":")?;
        rates.push((rate, line.integer("a burst")?));
    }
    if rates.len() == 2 {
        Ok(rates)
    } else {
        Err(line.error("two pairs RATE:BURST"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Match;
    use num_bigint::BigUint;
    use p4_ir::MatchKind;

    fn one(text: &str) -> Verb {
        Script::parse(text).unwrap().commands.remove(0).verb
    }

    fn error(text: &str) -> String {
        Script::parse(text).unwrap_err().remove(0).to_string()
    }

    #[test]
    fn entries() {
        let verb = one(
            "add c.t 7 h.f:0x1* h[0].$valid$:1 ip:0x0a000000/8 r:1->9 m:0x0f00&&&0xff00 c.act(p:2, q:0x0b) = $A # x",
        );
        let Verb::Add {
            table,
            priority,
            matches,
            action,
            id,
        } = verb
        else {
            panic!("{verb:?}")
        };
        assert_eq!(
            (table.as_str(), priority, id.as_deref()),
            ("c.t", Some(7), Some("A"))
        );
        let names: Vec<_> = matches.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["h.f", "h[0].$valid$", "ip", "r", "m"]);
        use MatchKind::{Lpm, Range, Ternary};
        let set = |i: usize, kind: MatchKind, width| matches[i].1.set(&kind, width).unwrap();
        assert_eq!(set(0, Ternary, 8), Match::ternary(0x10u8, 0xf0u8));
        assert_eq!(set(0, Ternary, 16), Match::ternary(0x10u8, 0xf0u8));
        assert_eq!(set(1, MatchKind::Exact, 1), Match::exact(1u8));
        assert_eq!(set(2, Lpm, 32), Match::lpm(0x0a00_0000u32, 8));
        assert_eq!(set(3, Range, 8), Match::range(1u8, 9u8));
        assert_eq!(set(4, Ternary, 16), Match::ternary(0x0f00u16, 0xff00u16));
        assert!(matches[3].1.set(&Ternary, 8).is_err());
        assert_eq!(action.name, "c.act");
        assert_eq!(action.args[1].1.plain(), Ok(&BigUint::from(11u8)));
    }

    #[test]
    fn an_optional_key_is_one_value_or_any() {
        let Verb::Add { matches, .. } = one("add t k:0b**** k:0x* k:0b1010 k:10 k:0x1* a()") else {
            panic!("an entry")
        };
        let set = |i: usize| matches[i].1.set(&MatchKind::Optional, 4);
        assert_eq!([set(0), set(1)], [Ok(Match::Any), Ok(Match::Any)]);
        let ten = || Ok(Match::exact(10u8));
        assert_eq!([set(2), set(3)], [ten(), ten()]);
        assert!(
            set(4)
                .unwrap_err()
                .contains("all digits of an optional one")
        );
        assert!(matches[0].1.set(&MatchKind::Exact, 4).is_err());
    }

    #[test]
    fn packets() {
        let octets = vec![0x01, 0x23, 0xab];
        assert_eq!(one("packet 3 01 2 3AB"), Verb::Packet { port: 3, octets });
        let Verb::Expect {
            port: 2,
            expected: Some(expected),
        } = one("expect 2 01*3 A* $")
        else {
            panic!("an expectation");
        };
        assert!(expected.exact);
        assert_eq!(expected.difference(&[0x01, 0x93, 0xaf]), None);
        assert_eq!(expected.difference(&[0x01, 0x94, 0xaf]), Some(3));
        assert_eq!(expected.difference(&[0x01, 0x93]), Some(4));
        assert_eq!(expected.difference(&[0x01, 0x93, 0xaf, 0]), Some(6));
        assert_eq!(
            one("expect 2"),
            Verb::Expect {
                port: 2,
                expected: None
            }
        );
    }

    #[test]
    fn counters_and_meters() {
        let check = Some((Quantity::Octets, Comparison::LessOrEqual, 9));
        for cell in ["A", "$A"] {
            assert_eq!(
                one(&format!("check_counter c({cell}) bytes <= 9")),
                Verb::CheckCounter {
                    counter: "c".into(),
                    cell: CounterCell::Entry("A".into()),
                    check
                }
            );
        }
        let rates = vec![(5e-6, 4), (2e-5, 5)];
        let verb = one("meter_set_rates c.m 2 0.000005:4 0.00002:5");
        assert_eq!(verb, Verb::MeterSetRates("c.m".into(), 2, rates));
    }

    #[test]
    fn quoted_names_hold_any_character() {
        let verb = one(r##"setdefault "a#b ◕" " c.act"("p ü":1) # "comment""##);
        let Verb::SetDefault { table, action } = verb else {
            panic!("{verb:?}")
        };
        assert_eq!((table.as_str(), action.name.as_str()), ("a#b ◕", " c.act"));
        assert_eq!(action.args[0].0, "p ü");
    }

    #[test]
    fn errors_say_where_and_what() {
        assert_eq!(
            error("\npackt 1 00"),
            format!("line 2, column 1: expected a command: {VERBS}, found `packt`")
        );
        assert_eq!(
            error("packet x"),
            "line 1, column 8: expected a port number, found `x`"
        );
        assert_eq!(
            error("packet 1 012"),
            "line 1, column 13: expected an even number of digits, found the end of the line"
        );
        assert_eq!(
            error("add t k:z a()"),
            "line 1, column 9: expected a value, such as 10, 0x0a, 0x0*, 0x0a00/8, 1->9, found `z`"
        );
        assert_eq!(
            error("setdefault \"t a()"),
            "line 1, column 12: expected a closing quotation mark on the same line, found `\"t`"
        );
        assert_eq!(
            error("set_crc16_parameters calc 0x8005 0 0 yes no"),
            "line 1, column 38: expected `true` or `false`, found `yes`"
        );
        assert_eq!(
            error("wait 5"),
            "line 1, column 6: expected the end of the line, found `5`"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z_ ]{0,12}( [0-9a-fx*:./$>&()=,\\-é#\"]{0,8}){0,6}") {
            let _ = Script::parse(&text);
            for verb in VERBS.split(", ") {
                let _ = Script::parse(&format!("{verb} {text}"));
            }
        }
    }
}
