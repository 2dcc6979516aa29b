/** Costs by topic in a real browser. */
import t from "tap";
import { insertTopicAttributions } from "../http/service.js";
import { needs } from "../programs.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-02";
const path = `/tenants/acme/topics?${period}`;

t.test(
  "topics are shown by cost, sorted by the service, and narrowed by a click",
  needs("chromium"),
  async (t) => {
    const { stores, open, troubles } = await startConsole(t);
    const topics = Array.from({ length: 12 }, (_, index) => ({
      timestamp: "2026-03-01T00:00:00Z",
      topic_name: `topic-${String(index + 1).padStart(2, "0")}`,
      amount: String(index + 1),
    }));
    await insertTopicAttributions(stores, [
      ...topics,
      {
        timestamp: "2026-03-02T00:00:00Z",
        topic_name: "topic-12",
        amount: "0.5",
        product_type: "KAFKA_BASE",
        attribution_method: "even_split",
      },
      {
        timestamp: "2026-03-02T00:00:00Z",
        topic_name: "__UNATTRIBUTED__",
        amount: "20",
        attribution_method: "terminal",
      },
    ]);
    const page = await open(path);
    const names = async () =>
      (await page.locator("tbody tr td:first-child").allInnerTexts()).map((name) => name.trim());

    await t.test("the largest ten, the others, and what is not attributed", async (t) => {
      const largest = topics.map(({ topic_name }) => topic_name).reverse();
      t.strictSame(await names(), [...largest.slice(0, 10), "2 others", "Not attributed"]);
      t.equal(await textOf(page, "tbody tr:nth-child(1)"), "topic-12 12.50 13 % 12.00 0.50");
      t.equal(await textOf(page, "tbody tr:nth-child(11)"), "2 others 3.00 3.0 % 3.00 0.00");
      t.equal(await textOf(page, "tbody tr:nth-child(12)"), "Not attributed 20.00 20 % 0.00 20.00");
      t.equal(await textOf(page, "tfoot"), "Total 98.50 100 % 78.00 20.50");
      t.equal(await page.locator("svg rect.series").count(), 13);
      await noBarriers(t, page, "topics");
    });

    await t.test("the navigation shows topics of tenants that have some", async (t) => {
      const views = (at: typeof page) => at.locator("header nav").getByRole("link", { name: "Topics" });
      t.equal(await views(page).count(), 1);
      const other = await open(`/tenants/globex/overview?${period}`);
      t.equal(await other.locator("header nav li").count(), 10);
      t.equal(await views(other).count(), 0);
    });

    await t.test("sorting asks for the first of all topics", async (t) => {
      await page.locator("th button.sort").first().click();
      await page.waitForFunction("location.search.includes('order=topic_name.asc')");
      await shows(page, ".updating", 0);
      t.strictSame((await names()).slice(0, 2), ["topic-01", "topic-02"]);
    });

    await t.test(
      "a click on a topic shows its products, and removing the filter shows all again",
      async (t) => {
        await page.locator("tbody").getByRole("link", { name: "topic-03" }).click();
        await shows(page, "tbody tr", 1);
        t.strictSame(await names(), ["KAFKA_NETWORK_WRITE"]);
        t.equal(await textOf(page, "tfoot"), "Total 3.00 100 % 3.00 0.00");
        await page.getByRole("button", { name: "Remove the filter Topic is topic-03" }).click();
        await shows(page, "tbody tr", 2);
        t.equal(await textOf(page, "tfoot"), "Total 98.50 100 % 78.00 20.50");
      },
    );

    await t.test("a search without a match says so", async (t) => {
      const empty = await open(`${path}&search=nothing`);
      t.equal(await textOf(empty, ".answer strong"), "Nothing matches");
    });

    await t.test("a period without topics says where they are available", async (t) => {
      const empty = await open("/tenants/acme/topics?start_date=2025-03-01&end_date=2025-03-02");
      t.equal(await textOf(empty, ".answer strong"), "No costs by topic in this period");
    });
    t.strictSame(troubles, []);
  },
);
