/** Deliveries of tenants whose bills are files. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { acceptDelivery } from "../../postgres/accept-delivery.js";
import { deliveryStates, readDeliveries, readDelivery } from "../../query/state/deliveries.js";
import { readDeliveryPayers } from "../../query/state/delivery-payers.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { deliveryPayerSchema, deliverySchema } from "../schemas/delivery.js";
import { choiceSchema } from "../schemas/fields.js";
import { cursorParameter, envelope, pageSchema } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";

const DeliveryPath = Type.Composite([
  tenantPathSchema,
  Type.Object({
    delivery_id: Type.Integer({
      description: "Id of the delivery.",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [12],
    }),
  }),
]);

const deliveryNotFound = (tenantName: string, id: number) =>
  new ApiError(
    "delivery_not_found",
    `Tenant ${tenantName} has no delivery ${id}. GET …/deliveries lists them.`,
  );

const PAYERS_ORDER = "By currency, the largest difference first, whatever its sign.";
const ORDER = "Newest first, by delivery_id.";

export const deliveryRoutes =
  ({ stores }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = stores;

    app.get(
      "/tenants/:tenant_name/deliveries",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listDeliveries",
          tags: ["Deliveries"],
          summary: "Deliveries",
          description: `Each bill that was found, with its files, sums and findings. Only tenants of the ecosystem \`focus\` have deliveries. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            state: Type.Optional(
              choiceSchema(deliveryStates, {
                description: "Only deliveries in this state.",
                examples: ["current"],
              }),
            ),
            ...paging,
            ...cursorParameter,
          }),
          response: {
            200: pageSchema(deliverySchema, ORDER),
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, query, stopSignal }) =>
        envelope(await readDeliveries(postgres, tenant_name, query, stopSignal), query),
    );

    app.get(
      "/tenants/:tenant_name/deliveries/:delivery_id/payers",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listDeliveryPayers",
          tags: ["Deliveries"],
          summary: "Who pays more or less since a delivery",
          description:
            "Differences between the chargebacks of the delivery's `changed_days` before and after they were published with it, by identity and currency. " +
            "Differences of 0 are left out. They are of the run that published the days, whatever changed them later.",
          params: DeliveryPath,
          querystring: inputOf(paging),
          response: {
            200: pageSchema(deliveryPayerSchema, PAYERS_ORDER),
            ...problemResponses(
              "tenant_not_found",
              "delivery_not_found",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant: { tenant_name }, params: { delivery_id: id }, query, stopSignal }) => {
        if ((await readDelivery(postgres, tenant_name, id, stopSignal)) === undefined)
          throw deliveryNotFound(tenant_name, id);
        return envelope(await readDeliveryPayers(postgres, tenant_name, id, query, stopSignal), query);
      },
    );

    app.post(
      "/tenants/:tenant_name/deliveries/:delivery_id/accept",
      {
        config: { scope: "run", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "acceptDelivery",
          tags: ["Deliveries"],
          summary: "Accept a waiting bill",
          description:
            "A new bill waits if it is smaller than the bill that it replaces by more than `shrink_limit_percent`, or if it shares charges with another bill. " +
            "This accepts it, and the next run calculates the days that differ. A bill that overlaps with others waits until that run, and then replaces " +
            "their charges; a bill whose own files overlap counts with all of its files. A bill that is current already does not change.",
          params: DeliveryPath,
          body: inputOf(
            {},
            { description: "A request without a body is treated like one with an empty object." },
          ),
          response: {
            200: deliverySchema,
            ...problemResponses(
              "tenant_not_found",
              "delivery_not_found",
              ...bodyProblems,
              "delivery_not_waiting",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant: { tenant_name }, params: { delivery_id: id }, interruption, stopSignal }) => {
        const before = await acceptDelivery(postgres, tenant_name, id, interruption);
        if (before === undefined) throw deliveryNotFound(tenant_name, id);
        if (before.state !== "waiting_for_acceptance" && before.state !== "current") {
          const detail = `Delivery ${id} is not waiting for acceptance: its state is ${before.state}.`;
          throw new ApiError("delivery_not_waiting", detail);
        }
        const accepted = await readDelivery(postgres, tenant_name, id, stopSignal);
        if (accepted === undefined) throw deliveryNotFound(tenant_name, id);
        return accepted;
      },
    );
  };
