/** Finds the dimension in a path: first in the copy in Postgres, then in the tenant's store. */
import type { FastifyRequest } from "fastify";
import { readPostgres } from "../postgres/statement.js";
import { copiedDimension, copyDimensions, type Dimension, lookUpDimensions } from "../tags/dimensions.js";
import { DimensionNotFoundError } from "../tags/tag-errors.js";
import { type HttpContext, tenantRead } from "./context.js";

/**
 * Throws DimensionNotFoundError, or `store_unavailable` if the copy does not have the dimension and the store is
 * unreachable.
 */
export async function findDimension(
  context: HttpContext,
  request: FastifyRequest,
  dimensionId: number,
): Promise<Dimension> {
  const { postgres } = context.stores;
  const { tenant_name: tenantName } = request.tenant;
  const read = copiedDimension(tenantName, dimensionId);
  const [copied] = await readPostgres<Dimension>(postgres, read, request.stopSignal);
  if (copied !== undefined) return copied;
  const { client, signal } = await tenantRead(context, request);
  const [found] = await lookUpDimensions(client, [dimensionId], signal);
  if (found === undefined) throw new DimensionNotFoundError(dimensionId);
  await copyDimensions(postgres, tenantName, [found]);
  return found;
}
