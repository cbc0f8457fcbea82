//! Phone numbers and e-mail addresses that identify a lead (C-72, C-92). Look-ups map them to leads; claims prevent
//! concurrent requests from creating two leads for one of them.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use tokio::try_join;

use super::digest::digest;
use super::record::LeadRecord;
use crate::ids::LeadId;
use crate::lead::{Lead, identifying_email};
use crate::phone::{self, Phone};
use crate::store::Reader;
use crate::store::key::{self, Key, Keys};
use crate::time::Timestamp;
use crate::words::address_word;
use table::item::{self, Item, n, s};
use table::{Condition, KeyRange, StoreError, Transaction};

/// Lifetime of a claim in seconds. Look-ups contain a new lead at once; the claim is for requests that read the
/// look-ups just before.
const CLAIM_SECONDS: u32 = 3600;

/// The fields that must be unique to a new lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UniqueBy {
    /// Its numbers: `phone`, `mobile` and `chatapp`.
    pub phone: bool,
    /// Its e-mail address.
    pub email: bool,
}

/// The numbers and the address by which a lead is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    phones: Vec<Phone>,
    /// The address in the form in which addresses are compared.
    email: Option<String>,
}

/// The leads of claims, by the keys of the claims.
pub type Claimants = BTreeMap<Key, LeadId>;

/// The claim of a number. Both forms of a number with a ninth digit have the same claim.
pub fn phone_claim(keys: Keys<'_>, phone: &Phone) -> Key {
    let digits = phone.digits();
    // The lesser of both forms names the line.
    let line = phone.twin().map_or(digits, |twin| digits.min(twin));
    keys.phone_claim(&digest(line))
}

/// Adds the claim of a number or address for `lead` to `transaction`, on condition that no other lead has claimed
/// it. The claim of lead `instead_of`, which no longer has the number or address or is `lead`, is replaced.
pub fn put_claim(
    transaction: &mut Transaction,
    claim: Key,
    (lead, instead_of): (LeadId, Option<LeadId>),
    now: Timestamp,
) {
    let expiry = now.plus_seconds(CLAIM_SECONDS).unix_seconds();
    let item = Item::from([
        ("lead".to_owned(), s(lead.to_string())),
        ("ttl".to_owned(), n(expiry)),
    ]);
    let condition = instead_of.map_or(Condition::Absent, |lead| Condition::AbsentOrText {
        name: "lead",
        value: lead.to_string(),
    });
    transaction.put(claim, item, condition);
}

/// The lead of a claim.
pub fn claimant(claim: &Item) -> Result<LeadId, StoreError> {
    let lead = claim.get("lead").and_then(|lead| lead.as_s().ok());
    let lead = lead.and_then(|lead| LeadId::parse(lead));
    lead.ok_or_else(|| item::corrupt("new caller", "it names no lead"))
}

impl Identity {
    /// The unique numbers and address of a lead with these numbers and this e-mail address.
    #[must_use]
    pub fn of<'n>(numbers: impl Iterator<Item = &'n str>, email: Option<&str>, unique: UniqueBy) -> Self {
        let phones = numbers.flat_map(phone::identifying).map(|read| read.phone);
        let phones = phones.filter(Phone::is_unique);
        let email = email.filter(|_| unique.email);
        Self {
            phones: phones.filter(|_| unique.phone).collect(),
            email: email.and_then(identifying_email),
        }
    }

    /// Whether a lead has one of the numbers, or the address.
    fn is_of(&self, lead: &Lead) -> bool {
        let numbers = lead.phones();
        let has_number = |phone: &Phone| {
            numbers
                .iter()
                .any(|number| number.is_unique() && number.same_line(phone))
        };
        let email = lead.email.as_deref().and_then(identifying_email);
        let has_email = email.is_some() && email == self.email;
        has_email || self.phones.iter().any(has_number)
    }

    /// The keys of the claims of its numbers and its address.
    pub(super) fn claims(&self, keys: Keys<'_>) -> BTreeSet<Key> {
        let phones = self.phones.iter().map(|phone| phone_claim(keys, phone));
        let email = self.email.as_ref().map(|email| keys.email_claim(&digest(email)));
        phones.chain(email).collect()
    }

    /// Adds the claims of all numbers and the address for `lead` to `transaction`. A claim in `earlier` is replaced if it
    /// still names that lead: the lead no longer has the number or address, or is `lead` itself. Any other existing claim
    /// refuses the transaction.
    pub(super) fn put_claims(
        &self,
        transaction: &mut Transaction,
        keys: Keys<'_>,
        lead: LeadId,
        (earlier, now): (&Claimants, Timestamp),
    ) {
        for claim in self.claims(keys) {
            let instead_of = earlier.get(&claim).copied();
            put_claim(transaction, claim, (lead, instead_of), now);
        }
    }

    /// The leads that have this identity's claims, by the claims among the items of failed conditions.
    pub(super) fn claimants_among(
        &self,
        keys: Keys<'_>,
        refused: &BTreeMap<Key, Item>,
    ) -> Result<Claimants, StoreError> {
        let mut claimants = Claimants::new();
        for key in self.claims(keys) {
            if let Some(claim) = refused.get(&key) {
                let lead = claimant(claim)?;
                claimants.insert(key, lead);
            }
        }
        Ok(claimants)
    }
}

impl Reader {
    /// The lead with a telephone number: the best match of these digits, else of the number's other form, with or
    /// without the ninth digit (C-72). At most two queries of one item, in parallel, for any number of leads with the
    /// number.
    ///
    /// # Errors
    /// [`StoreError`] if the look-ups cannot be read.
    async fn lead_by_phone(&self, phone: &Phone) -> Result<Option<LeadId>, StoreError> {
        let keys = self.keys();
        let exact_match = self.first_lead(KeyRange::head(keys.phone(phone.digits()), 1));
        let twin_match = async {
            match phone.twin() {
                Some(twin) => self.first_lead(KeyRange::head(keys.phone(twin), 1)).await,
                None => Ok(None),
            }
        };
        let (exact, twin) = try_join!(exact_match, twin_match)?;
        Ok(exact.or(twin))
    }

    /// The lead with one of the numbers, in their order. At most two queries of one item for each, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if the look-ups cannot be read.
    pub async fn lead_by_phones(&self, phones: &[Phone]) -> Result<Option<LeadId>, StoreError> {
        let found = try_join_all(phones.iter().map(|phone| self.lead_by_phone(phone))).await?;
        Ok(found.into_iter().flatten().next())
    }

    /// The lead with one of the numbers, in their order, else the lead with the address. Queries of one item, in
    /// parallel.
    ///
    /// # Errors
    /// [`StoreError`] if the look-ups cannot be read.
    pub(super) async fn identified_lead(&self, identity: &Identity) -> Result<Option<LeadId>, StoreError> {
        let email = async {
            match &identity.email {
                Some(email) => self.lead_by_email(email).await,
                None => Ok(None),
            }
        };
        let (phone, email) = try_join!(self.lead_by_phones(&identity.phones), email)?;
        Ok(phone.or(email))
    }

    /// A whole lead; `None` if it is gone, or has none of the numbers and not the address. A look-up may be outdated,
    /// so the record decides.
    pub(super) async fn lead_if_identified(
        &self,
        id: LeadId,
        identity: &Identity,
    ) -> Result<Option<Lead>, StoreError> {
        let lead = self.whole_lead(id).await?.map(LeadRecord::from);
        Ok(lead
            .map(|record| record.value.lead)
            .filter(|lead| identity.is_of(lead)))
    }

    /// The lead with an address in its compared form; leads that are not archived come first. An address that is one
    /// word of a search is found by it, with a query of one item in each of the lists of words; another by its digest,
    /// with one query, whose items are in this order.
    async fn lead_by_email(&self, email: &str) -> Result<Option<LeadId>, StoreError> {
        let keys = self.keys();
        let Some(word) = address_word(email) else {
            return self
                .first_lead(KeyRange::head(keys.email(&digest(email)), 1))
                .await;
        };
        let (listed, archived) = try_join!(
            self.first_lead(keys.addressed(false, &word)),
            self.first_lead(keys.addressed(true, &word))
        )?;
        Ok(listed.or(archived))
    }

    /// The lead of the first look-up in a range.
    async fn first_lead(&self, look_ups: KeyRange) -> Result<Option<LeadId>, StoreError> {
        let page = self.table.query(look_ups).await?;
        page.items.first().map(looked_up).transpose()
    }
}

/// The lead of a look-up.
fn looked_up(item: &Item) -> Result<LeadId, StoreError> {
    let key = table::key_of(item)?;
    key::looked_up_lead(&key.sk).ok_or_else(|| item::corrupt("look-up", "it names no lead"))
}
