//! The opportunities of a lead over all funnels (C-95).
//!
//! The links of a lead contain the ids of its opportunities, and their records the ids of users, so a first request
//! reads three times in sequence. A process caches these ids as a prefetch hint, so a later request reads once. The
//! embedded lead is read from its own record, so it is never stale.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::OpportunityRecord;
use crate::funnel::Funnel;
use crate::ids::{FunnelId, LeadId, OpportunityId, UserId};
use crate::lead::Lead;
use crate::opportunity::{Opportunity, Status};
use crate::people::{Company, User};
use crate::store::budget::ReadBudget;
use crate::store::key::{self, BATCH, Key};
use crate::store::leads::LeadRecord;
use crate::store::lists::{ListRequest, MAX_BYTES};
use crate::store::prefetch_cache::LeadOpportunitiesHint;
use crate::store::{Reader, Writer};
use crate::viewer::Viewer;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, Page, Pages, StoreError, key_of};

/// Prefetched reads of a lead's opportunities.
#[derive(Debug)]
pub struct PrefetchedLeadOpportunities {
    /// The lead's record, if there is one.
    pub lead: Option<LeadRecord>,
    links: Page,
    funnels: BTreeMap<FunnelId, Funnel>,
    records: PrefetchedRecords,
}

/// A page of the opportunities of a lead, newest first.
#[derive(Debug)]
pub struct LeadOpportunities {
    /// The lead, without custom fields.
    pub lead: Lead,
    /// The lead's company.
    pub company: Option<Company>,
    /// The opportunities that the viewer sees.
    pub opportunities: Vec<Opportunity>,
    /// Their users.
    pub users: BTreeMap<UserId, User>,
}

/// Records that were prefetched, and the requested keys. A key without a record has no item.
#[derive(Debug, Default)]
struct PrefetchedRecords {
    found: HashMap<Key, Item>,
    requested: BTreeSet<Key>,
}

impl Reader {
    /// Whether a lead has an open opportunity in a funnel. A query and a batch of gets for each 100 opportunities.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn has_open_opportunity(&self, lead: LeadId, funnel: FunnelId) -> Result<bool, StoreError> {
        let keys = self.keys();
        let mut pages = Pages::of(KeyRange::head(keys.lead_opportunities(lead), BATCH));
        while let Some(links) = pages.next_keys(&self.table).await? {
            let ids = links
                .iter()
                .filter_map(|link| OpportunityId::new(link.sk.parse().ok()?));
            let found = self.table.get_many(ids.map(|id| keys.opportunity(id))).await?;
            for record in found.into_values() {
                let opportunity = OpportunityRecord::decode(record)?.value.opportunity;
                let is_open = opportunity.status == Status::Open && opportunity.crm_id == funnel;
                if is_open && !opportunity.archived {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Prefetches the opportunities of a lead. In parallel: a batch of gets of the lead and at most 49 expected
    /// records, a query of at most 50 links, and a query of at most 50 funnels.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_lead_opportunities(
        &self,
        lead: LeadId,
    ) -> Result<PrefetchedLeadOpportunities, StoreError> {
        let keys = self.keys();
        let hint = self.hints.lead_opportunities.get(&(self.instance.clone(), lead));
        let hint = hint.unwrap_or_default();
        let expected = hint.opportunities.iter().map(|id| keys.opportunity(*id));
        let expected = expected.chain(hint.users.iter().map(|id| keys.user(*id)));
        let requested: BTreeSet<_> = expected.chain([keys.lead(lead)]).collect();
        let links = KeyRange::head(keys.lead_opportunities(lead), MAX_AHEAD);
        let (mut found, links, funnels) = tokio::try_join!(
            self.table.get_many(requested.iter().cloned()),
            self.table.query(links),
            self.expected::<Funnel>()
        )?;
        let record = found.remove(&keys.lead(lead)).map(LeadRecord::decode);
        Ok(PrefetchedLeadOpportunities {
            lead: record.transpose()?,
            links,
            funnels,
            records: PrefetchedRecords { found, requested },
        })
    }
}

impl Writer {
    /// A page of the opportunities of a lead that the viewer sees. No call if all records were prefetched, else batches
    /// of gets of the other records, their funnels and users. All opportunities of the lead are read, within the read
    /// budget (C-86).
    ///
    /// # Errors
    /// [`StoreError`] if more must be read and cannot be.
    pub async fn finish_lead_opportunities(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        lead: &LeadRecord,
        start: PrefetchedLeadOpportunities,
    ) -> Result<LeadOpportunities, StoreError> {
        let access = self.cache_access(viewer);
        let skipped = usize::try_from(request.skipped(&access)).unwrap_or(usize::MAX);
        let mut reads = LeadReads {
            reader: &self.reader,
            budget: ReadBudget::of(viewer),
            lead: lead.value.lead.id,
            funnels: start.funnels,
            records: start.records,
            links: BTreeSet::new(),
        };
        let sees = |one: &Opportunity, funnel: &Funnel| {
            viewer.sees_funnel(&funnel.access)
                && viewer.sees_opportunity(one.user, one.status, &one.restriction())
        };
        let max = request.limit.map(|limit| skipped.saturating_add(limit.into()));
        let work = async {
            let newest = reads.newest(start.links, max, sees).await?;
            // Without a limit everything is on the first page.
            let page: Vec<_> = newest.into_values().skip(skipped).collect();
            let users = reads.users(&page).await?;
            Ok((page, users))
        };
        let (opportunities, users) = ReadBudget::in_time(work).await?;
        reads.cache_ids(&users);
        let (lead, company) = lead.copied();
        Ok(LeadOpportunities {
            lead,
            company,
            opportunities,
            users,
        })
    }
}

/// The reads of one request.
struct LeadReads<'a> {
    reader: &'a Reader,
    budget: ReadBudget,
    lead: LeadId,
    funnels: BTreeMap<FunnelId, Funnel>,
    records: PrefetchedRecords,
    /// The ids of all links that were read.
    links: BTreeSet<OpportunityId>,
}

impl LeadReads<'_> {
    /// The newest visible opportunities, at most `max`, by sort key, which is newest first. Links are in the order of
    /// ids, so all are read. Without `max`, reading stops when the records exceed the size of a response. `first` is
    /// the first page of links.
    async fn newest(
        &mut self,
        first: Page,
        max: Option<usize>,
        sees: impl Fn(&Opportunity, &Funnel) -> bool,
    ) -> Result<BTreeMap<String, Opportunity>, StoreError> {
        let list = self.reader.keys().lead_opportunities(self.lead);
        let mut pages = Pages::of(KeyRange::whole(list));
        pages.advance(&first)?;
        let mut page = Some(first);
        let (mut newest, mut bytes) = (BTreeMap::new(), 0);
        while let Some(links) = page.take() {
            for links in links.items.chunks(BATCH) {
                for (size, one) in self.linked(links).await? {
                    let funnel = self.funnels.get(&one.crm_id);
                    if !funnel.is_some_and(|funnel| sees(&one, funnel)) {
                        continue;
                    }
                    bytes += size;
                    newest.insert(key::place(one.create_date, one.id), one);
                    if max.is_some_and(|max| newest.len() > max) {
                        newest.pop_last();
                    }
                }
                if max.is_none() && bytes > MAX_BYTES {
                    return Ok(newest);
                }
            }
            let (budget, table) = (&self.budget, &self.reader.table);
            page = pages.next_with(|span| budget.query(table, span)).await?;
        }
        Ok(newest)
    }

    /// The readable opportunities of links, each with the bytes of its record. Also reads their funnels.
    async fn linked(&mut self, links: &[Item]) -> Result<Vec<(usize, Opportunity)>, StoreError> {
        let mut keys = Vec::with_capacity(links.len());
        for link in links {
            let id = key_of(link)?.sk.parse().ok().and_then(OpportunityId::new);
            let id = id.ok_or_else(|| item::corrupt("lead-opportunity", "its sort key is no id"))?;
            self.links.insert(id);
            keys.push(self.reader.keys().opportunity(id));
        }
        let mut linked = Vec::with_capacity(keys.len());
        for item in self.items_of(keys).await? {
            let size = item::bytes(&item);
            let Some(record) = table::readable(item, OpportunityRecord::decode) else {
                continue;
            };
            let opportunity = record.value.opportunity;
            // Its lead may have changed after the link was read.
            if opportunity.lead_id == Some(self.lead) {
                linked.push((size, opportunity));
            }
        }
        let known = std::mem::take(&mut self.funnels);
        let needed = linked.iter().map(|(_, one)| one.crm_id);
        self.funnels = self.reader.with_referred(known, needed, &self.budget).await?;
        Ok(linked)
    }

    /// The users of these opportunities.
    async fn users(&mut self, shown: &[Opportunity]) -> Result<BTreeMap<UserId, User>, StoreError> {
        let users: BTreeSet<_> = shown.iter().map(|one| one.user).collect();
        let keys = users.into_iter().map(|user| self.reader.keys().user(user));
        let found = self.items_of(keys.collect()).await?.into_iter();
        let users = found.filter_map(|item| table::readable(item, |item| item::decode("user", item)));
        Ok(users.map(|user: User| (user.id, user)).collect())
    }

    /// The existing items with these keys. Reads those that were not prefetched.
    async fn items_of(&mut self, keys: Vec<Key>) -> Result<Vec<Item>, StoreError> {
        let missing = keys.iter().filter(|key| !self.records.requested.contains(*key));
        let missing: Vec<_> = missing.cloned().collect();
        let found = &mut self.records.found;
        for item in self.budget.get_items(&self.reader.table, missing).await? {
            found.insert(key_of(&item)?, item);
        }
        Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
    }

    /// Caches the ids for the next request of this lead. If they are more than a prefetch may read, removes the cached
    /// ones.
    fn cache_ids(self, users: &BTreeMap<UserId, User>) {
        let hint = LeadOpportunitiesHint {
            opportunities: self.links,
            users: users.keys().copied().collect(),
        };
        let are_few = hint.opportunities.len() + hint.users.len() < MAX_AHEAD;
        let cache_key = (self.reader.instance.clone(), self.lead);
        let hints = &self.reader.hints.lead_opportunities;
        hints.set(cache_key, are_few.then_some(hint));
    }
}
