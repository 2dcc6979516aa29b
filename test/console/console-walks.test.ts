/** Walks through the views of the console. The figures themselves are tested on every change. */
import t from "tap";
import { gatherInto } from "../http/gathered-inventory.js";
import { get, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { until } from "../until.js";
import { api, hostile, period, startFigures } from "./figures-of-acme.js";
import { inCents, noBarriers, shows, tabTo, textOf, totals } from "./pages.js";

t.test(
  "the console can be used on every device, by keyboard, and after errors",
  needs("chromium"),
  async (t) => {
    const { app, build, consoleFolder, stores, open, troubles } = await startFigures(t);

    await t.test("the explorer can be used by keyboard alone", async (t) => {
      const page = await open(`/tenants/acme/explorer?${period}&group_by=product_type`);
      await tabTo(page, "+ Add a filter");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await shows(page, ".chooser", 0);
      t.equal(await page.evaluate("document.activeElement.textContent"), "+ Add a filter");
      await tabTo(page, "NETWORK");
      await page.keyboard.press("Enter");
      await totals(page, { totals: [{ total_amount: "2.25" }] });
      t.equal(new URL(page.url()).searchParams.get("product_type"), "NETWORK");
      await tabTo(page, "Show the rows");
      await page.keyboard.press("Enter");
      await shows(page, ".rows tbody tr", 3);
      const why = "Why sa-9 pays 0.75";
      await tabTo(page, why);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Why this amount" }).waitFor();
      await page.keyboard.press("Escape");
      await until("the drawer is closed", async () => !new URL(page.url()).searchParams.has("why"));
      t.equal(
        await page.evaluate("document.activeElement.getAttribute('aria-label')"),
        why,
        "the focus returns to the link",
      );
    });

    await t.test("the worklist can be used by keyboard alone", async (t) => {
      const page = await open(`/tenants/acme/worklist?${period}`);
      await tabTo(page, "The owner is unknown");
      await page.keyboard.press("Enter");
      await page.waitForFunction("location.search.includes('cause_product=STORAGE')");
      await tabTo(page, "Assign r-1");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByLabel("Identity or team").waitFor();
      await tabTo(page, "Identity or team");
      await page.keyboard.type("payments");
      t.equal(await page.getByLabel("Identity or team").inputValue(), "payments");
      await page.keyboard.press("Escape");
      await until("it is closed", async () => !new URL(page.url()).searchParams.has("assign"));
    });

    await t.test("a copied link shows the same view", async (t) => {
      const link = `/tenants/acme/explorer?${period}&group_by=product_type&group_by=cost_type&order=total_amount.asc&chart=area&compare=previous`;
      const first = await open(link);
      const second = await open(new URL(first.url()).pathname + new URL(first.url()).search);
      t.equal(await textOf(first, "main"), await textOf(second, "main"));
      const products = await second.locator("tbody tr td:first-child").allInnerTexts();
      t.strictSame(
        products.map((text) => text.trim()),
        ["NETWORK", "STORAGE", "STORAGE"],
      );
      t.equal(await second.locator(".chart path.series").count(), 3);
    });

    await t.test("the inventory can be searched and filtered, and shows costs", async (t) => {
      const resources = ["r-1", "r-2", hostile[0] ?? ""].map((resource_id, index) => ({
        resource_id,
        resource_type: index === 1 ? "connector" : "cluster",
        display_name: index === 0 ? "orders" : null,
        owner_id: "sa-9",
      }));
      const identities = [{ identity_id: "sa-9", metadata: { team: "search" } }];
      await gatherInto(stores, "acme", { at: "2026-03-04T00:00:00Z", resources, identities });
      const page = await open(`/tenants/acme/inventory?${period}`);
      await shows(page, "tbody tr", 2);
      await noBarriers(t, page, "the inventory");
      const query = `${period}&group_by=resource_id&resource_id=r-1`;
      const { body } = await get(app, `${api}/chargebacks/breakdown?${query}`);
      const cost = `${inCents(body.totals[0].total_amount)} USD`;
      const [larger, smaller] = [`orders r-1 ${cost} cluster sa-9 `, "r-2 2.25 USD connector sa-9 "];
      const nth = async (row: number) =>
        (await textOf(page, `tbody tr:nth-child(${row})`)).replace(/(sa-9 ).*/, "$1");
      t.equal(await nth(1), larger);
      t.equal(await nth(2), smaller);
      await page.getByRole("button", { name: "Cost in this period" }).click();
      await until("the smallest comes first", async () => (await nth(1)) === smaller);
      t.equal(new URL(page.url()).searchParams.get("order"), "cost.asc");
      await page.getByLabel("Also those without cost").check();
      await shows(page, "tbody tr", 3);
      t.equal(await nth(2), larger);
      await page.getByLabel("Type").selectOption("connector");
      await shows(page, "tbody tr", 1);
      await shows(page, "tbody .amount", 1);
      t.equal(await nth(1), smaller);
      await page.getByLabel("Type").selectOption("");
      await page.getByLabel("Search ids and names").fill("orde");
      await shows(page, "tbody tr", 1);
      t.equal(new URL(page.url()).searchParams.get("search"), "orde");
      await page.getByRole("link", { name: "Identities" }).click();
      await page.getByLabel("Search ids and names").fill("sa-9");
      await page.locator("tbody").getByRole("link", { name: "sa-9", exact: true }).waitFor();
      await shows(page, "tbody tr", 1);
      t.match(await textOf(page, "tbody tr"), /^sa-9 2\.25 USD principal search /);
      await page.getByRole("link", { name: "sa-9", exact: true }).click();
      await totals(page, { totals: [{ total_amount: "2.25" }] });
    });

    await t.test("the history of a resource shows its lifetimes and owners", async (t) => {
      const identities = [{ identity_id: "sa-9", metadata: { team: "search" } }];
      const [, ...others] = ["r-1", "r-2", hostile[0] ?? ""].map((resource_id, index) => ({
        resource_id,
        resource_type: index === 1 ? "connector" : "cluster",
      }));
      await gatherInto(stores, "acme", { at: "2026-03-05T00:00:00Z", resources: others, identities });
      const again = { resource_id: "r-1", owner_id: hostile[0] ?? "", display_name: "orders" };
      await gatherInto(stores, "acme", {
        at: "2026-03-06T12:30:00Z",
        resources: [again, ...others],
        identities,
      });
      const page = await open(`/tenants/acme/inventory?${period}`);
      await page.getByRole("link", { name: "History of r-1" }).click();
      const drawer = page.getByRole("dialog", { name: "History" });
      const states = async () =>
        (await drawer.locator("tbody tr").allInnerTexts()).map((row) => row.replace(/\s+/g, " ").trim());
      await until("three states", async () => (await states()).length === 3);
      const march = drawer.locator(".bars li").filter({ hasText: "Mar 2026" }).locator("bdi");
      t.equal(await march.textContent(), `sa-9 → ${hostile[0]}`);
      const wanted = [
        `6 Mar 2026, 12:30 UTC now active ${hostile[0]} orders`,
        "5 Mar 2026, 00:00 UTC 6 Mar 2026, 12:30 UTC deleted sa-9 orders",
        "earliest known 5 Mar 2026, 00:00 UTC active sa-9 orders",
      ];
      t.strictSame(await states(), wanted);
      await noBarriers(t, page, "the history of a resource");
      const link = new URL(page.url());
      t.equal(link.searchParams.get("history"), "r-1");
      const copied = await open(link.pathname + link.search);
      await copied.getByRole("dialog").getByText("earliest known").waitFor();
      await page.keyboard.press("Escape");
      await until("it is closed", async () => !new URL(page.url()).searchParams.has("history"));
      const person = await open(`/tenants/acme/inventory?${period}&kind=identities&history=sa-9`);
      await person.getByRole("dialog").locator("tbody").getByText("search", { exact: true }).waitFor();
      const none = await open(`/tenants/acme/inventory?${period}&history=none`);
      await none.getByRole("dialog").getByText("The tenant has no such resource.").waitFor();
    });

    await t.test("tagging by filters shows a preview first, and the coverage afterwards", async (t) => {
      const covered = ".card:not(.each-tag) tbody tr";
      await recordTestDimensions(stores, "acme");
      const page = await open(`/tenants/acme/tags?${period}&product_type=NETWORK`);
      await page.getByText("There are no labels yet").waitFor();
      await noBarriers(t, page, "no tags");
      await page.getByLabel("Key", { exact: true }).fill("squad");
      await page.getByLabel("Value", { exact: true }).fill("<b>Netz & Co, \\");
      await page.getByLabel("Your name").fill("ada");
      await page.getByRole("button", { name: "Preview" }).click();
      await page
        .getByText(
          "1 would get the label, 0 would get another value, 0 already have the key and stay unchanged.",
        )
        .waitFor();
      t.equal((await get(app, `${api}/tags`)).body.total, 0, "a preview changes nothing");
      await page.getByRole("button", { name: "Label 1 of them" }).click();
      await page.getByText("Done: 1 labelled, 0 changed.").waitFor();
      await shows(page, covered, 1);
      t.equal(await textOf(page, covered), "<b>Netz & Co, \\ 100 % 2.25 USD");
      await page.getByRole("button", { name: "Preview" }).click();
      await page
        .getByText(
          "0 would get the label, 0 would get another value, 1 already have the key and stay unchanged.",
        )
        .waitFor();
      t.equal(await page.getByRole("button", { name: /of them/ }).count(), 0, "there is nothing left to tag");
      await noBarriers(t, page, "tags");
      const [{ tag_key, display_name, created_by } = {}] = (await get(app, `${api}/tags`)).body.items;
      t.strictSame([tag_key, display_name, created_by], ["squad", "<b>Netz & Co, \\", "ada"]);

      const unpaid = await open(`/tenants/acme/tags?${period}&identity_id=UNALLOCATED&key=squad`);
      await shows(unpaid, covered, 1);
      t.match(await textOf(unpaid, covered), /^\(without this label\) 100 % 7\.50 USD$/);
      await unpaid.getByLabel("Value", { exact: true }).fill("x");
      await unpaid.getByLabel("Your name").fill("ada");
      await unpaid.route("**/bulk-by-filter", (route) =>
        route.fulfill({ status: 503, json: { detail: "Later." } }),
      );
      await unpaid.getByRole("button", { name: "Preview" }).click();
      await unpaid.getByRole("alert").getByText("Later.").waitFor();
    });

    await t.test("no view has to be scrolled sideways on a phone", async (t) => {
      for (const view of [
        "overview",
        "explorer",
        "statement",
        "rules",
        "worklist",
        "inventory",
        "tags",
        "deliveries",
        "runs",
      ]) {
        const page = await open(`/tenants/acme/${view}?${period}`, { width: 360 });
        const [wide, window] = await page.evaluate<number[]>(
          "[document.documentElement.scrollWidth, innerWidth]",
        );
        t.ok(Number(wide) <= Number(window), `${view}: ${wide} of ${window}`);
        const beside = await page
          .locator(".table")
          .evaluateAll((found) => found.filter((each) => each.scrollWidth > each.clientWidth).length);
        t.equal(beside, 0, `${view}: no table has to be scrolled sideways`);
        const header = await page.locator("header").boundingBox();
        t.ok(header !== null && header.height < 50, `${view}: the header is one line`);
      }
    });

    await t.test("a long table on a phone shows its first rows, and more with a button", async (t) => {
      const day = "2026-02-10";
      const many = Array.from({ length: 320 }, (_, index) => ({
        timestamp: `${day}T00:00:00Z`,
        amount: `${1000 - index}.125`,
        identity_id: `an-identity-with-quite-a-long-name-${index}`,
      }));
      await insertChargebacks(stores, "acme", many);
      const address = `/tenants/acme/explorer?start_date=${day}&end_date=${day}&group_by=identity_id&limit=1000`;
      const phone = await open(address, { width: 360 });
      await shows(phone, "tbody tr", 300);
      const beside = await phone.locator(".table").evaluate((table) => table.scrollWidth - table.clientWidth);
      t.equal(beside, 0);
      await phone.getByRole("button", { name: "Show more rows (20 left)" }).click();
      await shows(phone, "tbody tr", 320);
      t.equal(await phone.getByRole("button", { name: "Show more" }).count(), 0);
      const desk = await open(address);
      await desk.locator(".table.windowed").waitFor();
    });

    await t.test(
      "the list of statements says how many it leaves out, and when nothing is found",
      async (t) => {
        const days = "start_date=2026-02-10&end_date=2026-02-10";
        const page = await open(`/tenants/acme/statement?${days}`);
        await shows(page, "tbody tr", 51);
        t.equal(await textOf(page, "tbody tr:last-child"), "270 more: search for them 220,218.75 USD");
        await page.getByLabel("Search identities").fill("NAME-319");
        await shows(page, "tbody tr", 1);
        t.equal(await textOf(page, "tbody tr"), "an-identity-with-quite-a-long-name-319 681.13 USD");
        await page.getByLabel("Search identities").fill("nobody");
        await page.getByText("No identity found in this period").waitFor();
        t.equal(await page.locator("table").count(), 0);
        const empty = "start_date=2026-01-01&end_date=2026-01-01";
        for (const view of ["statement", "overview", "worklist"]) {
          const none = await open(`/tenants/acme/${view}?${empty}`);
          t.equal(
            await none.locator(".proof, table").count(),
            0,
            `${view}: no empty table or reconciliation`,
          );
          await none
            .getByText(/^(No costs in this period|Nothing in this period needs attention)$/)
            .waitFor();
        }
      },
    );

    await t.test(
      "pages of rows and drawers keep the scroll position, another view starts at the top",
      async (t) => {
        const days = "start_date=2026-02-10&end_date=2026-02-10";
        const page = await open(`/tenants/acme/explorer?${days}&rows=1`);
        const scrolled = () => page.evaluate<number>("Math.round(scrollY)");
        await page.getByRole("link", { name: "next ›" }).scrollIntoViewIfNeeded();
        const there = await scrolled();
        t.ok(there > 500, `${there}`);
        await page.getByRole("link", { name: "next ›" }).click();
        await page.getByText("page 2 of 7").waitFor();
        await shows(page, ".rows .stale", 0);
        t.equal(await page.locator(".rows tbody tr").count(), 50);
        t.equal(await scrolled(), there, "the next page keeps the scroll position");
        await page.getByRole("link", { name: /^Why / }).last().click();
        await page.getByRole("dialog").waitFor();
        await page.keyboard.press("Escape");
        await until("the drawer is closed", async () => !new URL(page.url()).searchParams.has("why"));
        t.equal(await scrolled(), there, "a drawer keeps the scroll position");
        await page.getByRole("link", { name: "To fix" }).click();
        await page.getByRole("heading", { name: "To fix" }).waitFor();
        t.equal(await scrolled(), 0, "another view starts at the top");
      },
    );

    await t.test("labels of hours do not overlap", async (t) => {
      const day = "2026-02-12";
      const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
      await insertChargebacks(
        stores,
        "acme",
        hours.map((hour) => ({ timestamp: `${day}T${hour}:00:00Z`, amount: "1", identity_id: "sa-9" })),
      );
      for (const [width, every] of [
        [1280, 3],
        [360, 12],
      ] as const) {
        const page = await open(`/tenants/acme/explorer?start_date=${day}&end_date=${day}&time_bucket=hour`, {
          width,
        });
        const labels = page.locator(".chart .tick[text-anchor=middle]");
        t.strictSame(
          await labels.allTextContents(),
          hours.filter((_, index) => index % every === 0).map((hour) => `12 Feb ${hour}:00`),
        );
        const boxes = await labels.evaluateAll((found) =>
          found.map((each) => each.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
        );
        const ends = [...boxes.map(([left]) => left).slice(1), width];
        t.ok(
          boxes.every(([, right], index) => right < (ends[index] ?? 0)),
          `${width}: ${JSON.stringify(boxes)}`,
        );
      }
    });

    await t.test("a long statement is printed completely, without controls", async (t) => {
      const day = "2026-02-11";
      const product =
        "A product whose name is far too long for a column of a table, Enterprise Edition, each year";
      await insertChargebacks(
        stores,
        "acme",
        Array.from({ length: 320 }, (_, index) => ({
          timestamp: `${day}T00:00:00Z`,
          amount: `${index + 1}.5`,
          identity_id: "fleet",
          product_type: product,
          resource_id: `node-${index}`,
        })),
      );
      const address = `/tenants/acme/statement?start_date=${day}&end_date=${day}&identity_id=fleet`;
      for (const width of [1280, 360]) {
        const page = await open(address, { width });
        // In a tagged PDF, each table row is an element.
        const file = (await page.pdf({ format: "A4", tagged: true })).toString("latin1");
        t.equal(
          file.match(/\/S \/TR\b/g)?.length,
          322,
          `a head, 320 lines and the total, from ${width} pixels`,
        );
        const drawn = "dispatchEvent(new Event('beforeprint')); document.querySelectorAll('tbody tr').length";
        t.equal(await page.evaluate(drawn), 320, "all rows are rendered within the beforeprint event");
        await page.emulateMedia({ media: "print" });
        const cut = await page
          .locator("td")
          .evaluateAll((found) => found.filter((each) => each.scrollWidth > each.clientWidth).length);
        t.equal(cut, 0, "no name is truncated");
        const onScreenOnly = ["header", ".rows", ".chip button", ".chip.add", ".more"];
        for (const part of onScreenOnly)
          t.equal(await page.locator(part).filter({ visible: true }).count(), 0, `${part} is not printed`);
        await page.emulateMedia({ media: "screen" });
        await page.getByRole("button", { name: "Show the rows" }).waitFor();
      }
      const withRows = await open(`${address}&rows=1`);
      await withRows.emulateMedia({ media: "print" });
      t.equal(
        await withRows.locator(".rows tbody tr").filter({ visible: true }).count(),
        50,
        "open rows are printed",
      );
    });

    await t.test(
      "a new period in the explorer sends four requests, and percentages of changes are aligned",
      async (t) => {
        const at = (first: string, last: string) =>
          `start_date=${first}&end_date=${last}&group_by=identity_id&compare=previous`;
        const page = await open(`/tenants/acme/explorer?${at("2026-03-02", "2026-03-02")}`);
        const requests: string[] = [];
        page.on("request", (request) => {
          const { pathname } = new URL(request.url());
          if (pathname.startsWith("/api/")) requests.push(pathname.split("/acme/")[1] ?? pathname);
        });
        await page.getByLabel("To", { exact: true }).fill("2026-03-03");
        await until("the period is shown", async () =>
          new URL(page.url()).search.includes("end_date=2026-03-03"),
        );
        await until("the requests are sent", async () => requests.length > 3);
        await page.waitForTimeout(500);
        t.strictSame(requests.sort(), [
          "chargebacks/breakdown",
          "chargebacks/breakdown",
          "events",
          "reconciliation",
        ]);
        const lefts = await page
          .locator("td .change .percent")
          .evaluateAll((found) => found.map((each) => Math.round(each.getBoundingClientRect().left)));
        t.ok(lefts.length > 1);
        t.equal(new Set(lefts).size, 1, lefts.join());
      },
    );

    await t.test(
      "the page follows a run that it started to its end, and shows why a tenant is suspended",
      async (t) => {
        const { postgres } = stores;
        const id = "0b7e1f5e-0000-4000-8000-000000000001";
        const set = (values: string) => postgres.query(`UPDATE runs SET ${values} WHERE run_id = '${id}'`);
        await postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO leases (tenant_name, holder, epoch, expires_at) VALUES ('acme', 'w', 9, now() + interval '1 hour')`);
        const page = await open(`/tenants/acme/runs?${period}`);
        await page.getByRole("button", { name: "Run now" }).waitFor();
        await page.route("**/pipeline/run", async (route) => {
          await postgres.query(
            `INSERT INTO runs (run_id, tenant_name, trigger, epoch, status, stage) VALUES ('${id}', 'acme', 'api', 9, 'running', 'gathering')`,
          );
          const json = { tenant_name: "acme", status: "started", run_id: id, message: "started" };
          await route.fulfill({ status: 202, json });
        });
        await page.getByRole("button", { name: "Run now" }).click();
        const stage = page.locator(".stages [aria-current=step]");
        await stage.getByText("Gather").waitFor();
        await noBarriers(t, page, "a run in progress");
        await set(
          "stage = 'publishing', stage_date = '2026-03-02', dates_pending = 3, dates_calculated = 2, chargeback_rows_written = 14",
        );
        await stage.getByText("Publish").waitFor();
        await page.getByText("2 of 3 days published, 14 rows. Now: 2 Mar 2026").waitFor();
        await set(
          `status = 'completed', stage = NULL, stage_date = NULL, ended_at = now(), dates_calculated = 3, notes = '["aws: no bill is there"]'`,
        );
        await shows(page, ".stages", 0);
        await page.getByRole("button", { name: "Run now", disabled: false }).waitFor();
        t.match(await textOf(page, ".table tbody tr"), / api completed .* 3 14 1 note$/);
        await page.getByText("1 note").click();
        await page.getByText("aws: no bill is there").waitFor();
        await postgres.query(
          "UPDATE tenants SET suspended_at = now(), suspension_reason = '5 gathers failed'",
        );
        // The service caches readiness for two seconds, which do not pass here. So use another service.
        const other = await build({ consoleFolder });
        const at = await other.listen({ host: "127.0.0.1", port: 0 });
        const suspended = await open(`/tenants/acme/runs?${period}`, { at });
        await suspended.getByText("Suspended until the service restarts: 5 gathers failed").waitFor();
        await postgres.query("UPDATE tenants SET suspended_at = NULL, suspension_reason = NULL");
      },
    );

    await t.test("an error of the API is shown, with a button to retry", async (t) => {
      const page = await open(`/tenants/acme/runs?${period}`);
      let fails = true;
      await page.route("**/chargebacks/breakdown?*", (route) =>
        fails
          ? route.fulfill({
              status: 503,
              contentType: "application/problem+json",
              body: JSON.stringify({
                title: "Too busy",
                status: 503,
                detail: "Ask again soon.",
                code: "too_busy",
              }),
            })
          : route.continue(),
      );
      await page.getByRole("link", { name: "Explore" }).click();
      await page.getByRole("alert").waitFor();
      t.match(await textOf(page, "[role=alert]"), /Ask again soon\. too_busy/);
      fails = false;
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator("tfoot").waitFor();
      t.equal(await page.getByRole("alert").count(), 0);
    });

    await t.test("an unknown address shows an error page", async (t) => {
      const page = await open("/tenants/nobody/overview");
      t.match(await textOf(page, "main"), /You have no access to nobody, or it does not exist/);
    });

    t.strictSame(
      // The tests above provoke these errors.
      troubles.filter((trouble) => !/status of (503|404)/.test(trouble)),
      [],
      "no other errors in the browser, and no requests to other hosts",
    );
  },
);
