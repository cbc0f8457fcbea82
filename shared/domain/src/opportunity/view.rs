//! Views of an opportunity, with lead and companies embedded in full (spec.md, Opportunity).

use serde::Serialize;
use serde_json::{Number, Value};

use super::Opportunity;
use crate::instance::InstanceName;
use crate::lead::{Lead, LeadView};
use crate::people::Company;

/// An opportunity in a list: `value` is text with two decimals (C-33).
#[derive(Debug, Serialize)]
pub struct OpportunityView<'a> {
    #[serde(flatten)]
    opportunity: &'a Opportunity,
    #[serde(rename = "dataLead")]
    lead: Option<LeadView<'a>>,
    #[serde(rename = "dataCompany")]
    company: Option<CompanyView<'a>>,
}

/// A company embedded in an opportunity.
#[derive(Debug, Serialize)]
pub struct CompanyView<'a> {
    #[serde(rename = "_id")]
    text_id: String,
    #[serde(flatten)]
    company: &'a Company,
}

impl<'a> OpportunityView<'a> {
    /// The view of an opportunity, its lead and the lead's company.
    #[must_use]
    pub fn of(
        opportunity: &'a Opportunity,
        lead: Option<&'a Lead>,
        company: Option<&'a Company>,
        instance: &'a InstanceName,
    ) -> Self {
        Self {
            opportunity,
            lead: lead.map(|lead| LeadView::embedded(lead, instance)),
            company: company.map(CompanyView::of),
        }
    }

    /// The view of endpoints 7 and 8: `value` is a number (C-33).
    #[must_use]
    pub fn with_number(&self) -> Value {
        let mut view = serde_json::to_value(self).unwrap_or_default();
        if let Some(value) = view.get_mut("value") {
            *value = self.opportunity.value.to_json();
        }
        view
    }
}

impl<'a> CompanyView<'a> {
    fn of(company: &'a Company) -> Self {
        Self {
            text_id: format!("company-{}", company.id),
            company,
        }
    }
}

/// A column's `totalValue`: text with two decimals, or the number 0 if the column is empty (C-45).
#[must_use]
pub fn total_value(count: u64, cents: i128) -> Value {
    if count == 0 {
        return Value::Number(Number::from(0));
    }
    Value::String(format!("{}.{:02}", cents / 100, cents % 100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// C-45: totals exceed 64 bits.
    #[test]
    fn the_total_value_is_exact_text_or_the_number_0() {
        for (count, cents, expected) in [
            (0, 0, json!(0)),
            (1, 0, json!("0.00")),
            (1, 5, json!("0.05")),
            (3, 21_320, json!("213.20")),
            (
                1_000_000,
                999_999_999_999_999 * 1_000_000,
                json!("9999999999999990000.00"),
            ),
        ] {
            assert_eq!(total_value(count, cents), expected);
        }
    }
}
