/** Lists, days and sums of the costs of Kafka clusters by topic. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readAttributionAggregate } from "../../query/topics/aggregate.js";
import { readTopicBreakdown, topicSortNames } from "../../query/topics/breakdown.js";
import {
  attributionKey,
  type TopicAttributionRow as Row,
  readAttributionDates,
  readAttributionPages,
} from "../../query/topics/list.js";
import { type HttpContext, tenantRead } from "../context.js";
import { requestedSort } from "../input/requested-sort.js";
import { createListReader } from "../plugins/pagination.js";
import { cursorParameter, pageSchema } from "../schemas/page.js";
import { dateRange, inputOf, paging, tenantPathSchema, timezone } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";
import {
  attributionAggregateParameters,
  attributionFilters,
  topicAggregationSchema,
  topicAttributionDatesSchema,
  topicAttributionRowSchema,
  topicBreakdownParameters,
  topicBreakdownSchema,
} from "../schemas/topic-attribution.js";

const ORDER =
  "By UTC day, cluster_resource_id, product_type, environment, product_category, timestamp, topic_name, currency.";
const EMPTY = "Empty if costs were never attributed to topics; the list of tenants says whether they are.";
const tags = ["Topics"];
const etag = { ledger: "topic_attributions", cached: true } as const;
const cursors = { kind: "topic_attributions", columns: attributionKey };

export const topicAttributionRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readList = createListReader<Row>();
    app.get(
      "/tenants/:tenant_name/topic-attributions",
      {
        config: { scope: "read", heavy: false, etag, showsTags: false, cursors },
        schema: {
          operationId: "listTopicAttributions",
          tags,
          summary: "Costs by topic",
          description: `Each row is the part of one billing line that one topic caused. ${ORDER} ${EMPTY}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...paging,
            ...cursorParameter,
            ...dateRange,
            ...timezone,
            ...attributionFilters,
          }),
          response: {
            200: pageSchema(topicAttributionRowSchema, ORDER),
            ...notModified,
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return await readList(request, (input) => readAttributionPages(client, input, signal));
      },
    );

    app.get(
      "/tenants/:tenant_name/topic-attributions/dates",
      {
        config: { scope: "read", heavy: false, etag, showsTags: false },
        schema: {
          operationId: "listTopicAttributionDates",
          tags,
          summary: "Days with costs by topic",
          description: `All UTC days that have attributions to topics, of any age. ${EMPTY}`,
          params: tenantPathSchema,
          response: {
            200: topicAttributionDatesSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return { dates: await readAttributionDates(client, signal) };
      },
    );

    app.get(
      "/tenants/:tenant_name/topic-attributions/aggregate",
      {
        config: { scope: "read", heavy: true, etag, showsTags: false },
        schema: {
          operationId: "aggregateTopicAttributions",
          tags,
          summary: "Sums of costs by topic",
          description: `Amounts by time bucket and columns. Sums are exact, and equal to those of the listed rows. ${EMPTY}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...attributionAggregateParameters,
            ...dateRange,
            ...timezone,
            ...attributionFilters,
          }),
          response: {
            200: topicAggregationSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { group_by: groupBy, time_bucket: timeBucket, ...filters } = request.query;
        const { client, signal } = await tenantRead(context, request);
        const input = { window: request.window, filters, groupBy, timeBucket };
        return readAttributionAggregate(client, input, signal);
      },
    );

    app.get(
      "/tenants/:tenant_name/topic-attributions/breakdown",
      {
        config: { scope: "read", heavy: true, etag, showsTags: false },
        schema: {
          operationId: "breakDownTopicAttributions",
          tags,
          summary: "The largest groups of costs by topic",
          description: `The first groups of a period in the order of \`order\`, the sums of all other groups, and the totals; on request also over time. Sums are exact. ${EMPTY}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...topicBreakdownParameters,
            ...dateRange,
            ...timezone,
            ...attributionFilters,
          }),
          response: {
            200: topicBreakdownSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const {
          group_by: groupBy,
          time_bucket: timeBucket,
          limit,
          order,
          search,
          ...filters
        } = request.query;
        const { client, signal } = await tenantRead(context, request);
        const sort =
          order === "amount" ? ("amount" as const) : requestedSort(order, [...topicSortNames, ...groupBy]);
        const input = { window: request.window, filters, groupBy, timeBucket, limit, search, order: sort };
        return readTopicBreakdown(client, input, signal);
      },
    );
  };
