//! Numerals rewritten from one base in another, however long.
//!
//! A numeral can begin with zeros that do not change the number: the fraction `05`, the address `0.0.0.1`. So
//! each leading zero in one base becomes a leading zero in the other, and the rest is the number. That makes
//! rewriting one-to-one: every numeral can be restored, and numerals without leading zeros are written as in
//! the standard. The number zero is the numeral of one zero.

/// The digits of a base, zero first.
pub(super) struct Digits {
    digits: &'static [u8],
    /// Whether letters of the other case are the same digits.
    ignores_case: bool,
}

/// Decimal numbers.
pub(super) const DECIMAL: Digits = Digits { digits: b"0123456789", ignores_case: false };
/// The text of an IPv4 address [Alg. 5].
pub(super) const IPV4: Digits = Digits { digits: b"0123456789.", ignores_case: false };
/// The text of an IPv6 address [Alg. 5].
pub(super) const IPV6: Digits = Digits { digits: b"0123456789abcdef:", ignores_case: false };
/// The IBIp [Table 7.2].
pub(super) const IBIP: Digits =
    Digits { digits: b"23456789ABCDEFGHJKLMNPQRSTU", ignores_case: true };
/// The suffix of labels from before 2009.
pub(super) const LEGACY: Digits = Digits {
    digits: b"23456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUV",
    ignores_case: false,
};

/// Limit on the length: the work grows with its square, and genuine numerals are much shorter.
const LONGEST: usize = 255;

/// Writes a numeral in another base; `None` if it is empty, too long or not a numeral.
pub(super) fn rewrite(numeral: &str, from: &Digits, to: &Digits) -> Option<String> {
    if numeral.is_empty() || numeral.len() > LONGEST {
        return None;
    }
    let values = numeral.bytes().map(|digit| from.value(digit)).collect::<Option<Vec<u32>>>()?;
    let zeros = values.iter().take_while(|&&value| value == 0).count();
    let mut number = Number::default();
    for &value in &values[zeros..] {
        number.multiply_add(from.base(), value);
    }
    let mut reversed = String::new();
    while let Some(value) = number.divide(to.base()) {
        reversed.push(to.digit(value));
    }
    reversed.extend(std::iter::repeat_n(to.digit(0), zeros));
    Some(reversed.chars().rev().collect())
}

impl Digits {
    fn base(&self) -> u32 {
        u32::try_from(self.digits.len()).expect("because no base here is over 53")
    }

    fn digit(&self, value: u32) -> char {
        char::from(self.digits[value as usize])
    }

    fn value(&self, digit: u8) -> Option<u32> {
        let digit = if self.ignores_case { digit.to_ascii_uppercase() } else { digit };
        let value = self.digits.iter().position(|&known| known == digit)?;
        u32::try_from(value).ok()
    }
}

/// A natural number: limbs of 32 bits, least significant first, the last of them not zero.
#[derive(Default)]
struct Number(Vec<u32>);

impl Number {
    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = low(carry);
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
    }

    /// Divides by `divisor` and returns the remainder; `None` if this number is zero.
    fn divide(&mut self, divisor: u32) -> Option<u32> {
        self.0.last()?;
        let divisor = u64::from(divisor);
        let mut remainder = 0;
        for limb in self.0.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*limb);
            *limb = low(dividend / divisor);
            remainder = dividend % divisor;
        }
        if self.0.last() == Some(&0) {
            self.0.pop();
        }
        Some(low(remainder))
    }
}

/// The low 32 bits.
fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).expect("because 32 bits were kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> toml::Table {
        include_str!("../../fixtures/vectors/generation.toml").parse().unwrap()
    }

    #[test]
    fn numbers_of_the_standard() {
        for vector in vectors()["number"].as_array().unwrap() {
            let (value, base27) =
                (vector["value"].as_str().unwrap(), vector["base27"].as_str().unwrap());
            assert_eq!(rewrite(value, &DECIMAL, &IBIP).unwrap(), base27);
            assert_eq!(rewrite(base27, &IBIP, &DECIMAL).unwrap(), value);
        }
    }

    #[test]
    fn addresses_of_the_standard_are_the_numbers_it_gives() {
        for vector in vectors()["ip"].as_array().unwrap() {
            let Some(number) = vector.get("number") else { continue };
            let address = vector["address"].as_str().unwrap();
            let digits = if address.contains(':') { &IPV6 } else { &IPV4 };
            assert_eq!(rewrite(address, digits, &DECIMAL).as_deref(), number.as_str());
        }
    }

    #[test]
    fn leading_zeros_stay() {
        for (decimal, ibip) in [("0", "2"), ("00", "22"), ("5", "7"), ("05", "27"), ("005", "227")]
        {
            assert_eq!(rewrite(decimal, &DECIMAL, &IBIP).unwrap(), ibip);
            assert_eq!(rewrite(ibip, &IBIP, &DECIMAL).unwrap(), decimal);
        }
    }

    #[test]
    fn limbs_carry_and_vanish() {
        let powers = ["4294967295", "4294967296", "18446744073709551616"];
        for decimal in powers.map(str::to_owned).into_iter().chain(["9".repeat(LONGEST)]) {
            let legacy = rewrite(&decimal, &DECIMAL, &LEGACY).unwrap();
            assert_eq!(rewrite(&legacy, &LEGACY, &DECIMAL).unwrap(), decimal);
        }
    }

    #[test]
    fn what_is_no_numeral_is_refused() {
        for numeral in ["", "I", "2W", "é", &"3".repeat(LONGEST + 1)] {
            assert_eq!(rewrite(numeral, &IBIP, &DECIMAL), None, "{numeral}");
        }
    }
}
