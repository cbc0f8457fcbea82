//! The end-to-end tests, one program so that they link once: a module for each endpoint, named like its URL,
//! and one for each property across endpoints.

#![recursion_limit = "256"]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a test that meets what cannot be must fail, says what it measured, and is as long as it has cases"
)]

mod architecture;
mod automations;
mod capacity;
mod ceilings;
mod compression;
mod concurrency;
mod conformance;
mod delete_leads;
mod delete_leads_id;
mod directory;
mod documents;
mod doors;
mod edge;
mod erasure;
mod faults;
mod formats;
mod get_advancedreports;
mod get_calendarmeeting_id;
mod get_calendarmeeting_slots;
mod get_crm;
mod get_crmfastloadv2_id;
mod get_crmopportunity_id;
mod get_departament;
mod get_leads;
mod get_leads_id;
mod get_leads_id_meetings;
mod get_leads_id_timeline;
mod get_listopportunitysleadcomplete_id;
mod get_me;
mod get_pcalendar;
mod get_reportchart_id;
mod get_sac360_lead_id;
mod get_sac360_list_file_attendance_id;
mod get_sac360_list_file_lead_id;
mod get_tags;
mod get_user;
mod idempotency;
mod ids;
mod isolation;
mod item_sizes;
mod large_leads;
mod lifecycle;
mod limits;
mod maintenance;
mod model;
mod openapi;
mod post_api_hook_name;
mod post_calendarmeeting;
mod post_crm_opportunities_id;
mod post_crmopportunity;
mod post_lead_archive;
mod post_leads;
mod post_leadsadvanced;
mod post_sac360_relaction;
mod post_voip_webhook;
mod put_crmopportunity_id;
mod put_leads;
mod referred;
mod routes;
mod strangers;
mod template;
mod tickets_of_deleted_leads;
