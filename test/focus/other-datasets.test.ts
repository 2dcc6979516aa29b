/** Which tables next to bills are recognised by their columns, and which may be bills. */
import t from "tap";
import { otherDataset } from "../../src/focus/other-datasets.js";

t.test("datasets of FOCUS and of clouds are recognised by their columns, in any case", async (t) => {
  const headers: Readonly<Record<string, string>> = {
    "BillingCurrency,ContractCommitmentId,ContractId": "contract commitments of FOCUS",
    "BilledCost,BillingAccountId,ChargeCategory,InvoiceDetailId": "invoice details of FOCUS",
    "BillingPeriodStart,BillingPeriodEnd,BillingPeriodStatus,InvoiceIssuerName": "billing periods of FOCUS",
    "identity_line_item_id,line_item_usage_start_date,line_item_unblended_cost":
      "a Cost and Usage Report of AWS (CUR 2.0)",
    "identity/LineItemId,lineItem/UsageStartDate,lineItem/UnblendedCost":
      "a Cost and Usage Report of AWS (legacy)",
    "lineItem/referenceNo,lineItem/intervalUsageStart,cost/myCost": "a cost report of Oracle",
    "billing_account_id,usage_start_time,cost,currency": "a cost and usage export of Google Cloud",
    "InvoiceSectionName,Date,meterid,Quantity": "a cost or price export of Microsoft",
    "Team,Budget,Currency": "another table (its columns are Team, Budget, Currency)",
    "Team,Budget,Owner,Mail": "another table (its columns are Team, Budget, Owner, …)",
  };
  for (const [header, what] of Object.entries(headers))
    t.equal(otherDataset(header.split(",")), what, header);
});

t.test("a bill, even a damaged one, is not recognised as another dataset", async (t) => {
  const headers = [
    "BilledCost,ChargePeriodStart,InvoiceDetailId",
    "chargeperiodstart,MeterId",
    "BilledCost,ChargePeriodEnd,InvoiceDetailId",
    "charge_period_start,billed_cost",
    "Charge Period Start,Cost",
    "Service,ListCost",
    "BilledCost;EffectiveCost;ChargePeriodStart",
    "Cost report of October",
    "Cost report,,",
    "0.5,2026-05-01,Compute",
    "a,a",
    "",
  ];
  for (const header of headers) t.equal(otherDataset(header.split(",")), undefined, header);
});
