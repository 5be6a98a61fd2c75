/** Operator endpoints: `/metrics` for Prometheus, `/ready` for load balancers. `/health` belongs to a dialect. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { asFault, type FaultCode, requirePermission } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { Authenticator } from '../http/authenticator.ts';
import { principalOf, tokenOf } from '../http/request-identity.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

export type Operations = {
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  /** grants access to `/metrics` only */
  readonly metricsToken: string | undefined;
  readonly readiness: Readiness;
};

export function operationRoutes(app: Hono, operations: Operations): void {
  app.get('/ready', async (c) => {
    const problem = await operations.readiness.problem();
    c.header('cache-control', 'no-store');
    if (problem === null) return c.json({ status: 'ready' }, 200);
    return c.json({ status: 'unavailable', ...problem }, 503);
  });

  app.get('/metrics', async (c) => {
    const refused = await refusal(c.req.raw, operations);
    if (refused) {
      const { status, message } = refused;
      return c.json({ error: message, detail: message }, status);
    }
    const { metrics } = operations;
    return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType });
  });
}

/** Requires the permission or the metrics token. */
async function refusal(request: Request, { authenticator, metricsToken }: Operations) {
  const token = tokenOf(request);
  if (token !== null && metricsToken !== undefined && same(token, metricsToken)) return null;
  try {
    requirePermission(await principalOf(authenticator, request), 'metrics:read');
    return null;
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    const status = STATUSES[code];
    if (status === undefined) throw thrown;
    return { status, message };
  }
}

const STATUSES: Partial<Record<FaultCode, 401 | 403 | 503>> = {
  unauthenticated: 401,
  forbidden: 403,
  storage_unavailable: 503,
};

const digest = (text: string) => createHash('sha256').update(text).digest();
const same = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));
