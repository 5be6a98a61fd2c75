/** The HTTP endpoints of the contract. */
import { asFault, type FaultCode, isObject } from '@parlance/protocol';
import type { Context, Hono } from 'hono';
import { principalOf } from '../../core/engine.ts';
import { reported, requestIds, type Surroundings } from '../dialect.ts';
import { HTTP_STATUS } from '../http-status.ts';
import { parseBody } from '../json-body.ts';
import { retryWords, sayRetryAfter } from '../retry.ts';

export function routes(app: Hono, around: Surroundings): void {
  app.get('/health', (c) => c.json({ status: 'ok', timestamp: timeOf(around) }));
  app.post('/api/summarize', (c) => summarize(c, around));
}

async function summarize(c: Context, around: Surroundings): Promise<Response> {
  let bytes: Uint8Array;
  try {
    around.asked(c.req.raw);
    await principalOf(around.gate, c.req.raw);
    bytes = await around.readBody(c.req.raw, 'identified');
  } catch (thrown) {
    const fault = asFault(thrown);
    if (!REFUSALS.has(fault.code)) throw thrown;
    sayRetryAfter(c, fault);
    return c.json({ error: retryWords(fault) }, HTTP_STATUS[fault.code]);
  }
  const body = parseBody(bytes);
  if ('problem' in body) return c.json({ error: `The body ${body.problem}` }, 400);
  const { content, title } = isObject(body.value) ? body.value : {};
  if (typeof content !== 'string' || content.trim() === '')
    return c.json({ error: 'Content is required' }, 400);
  if (typeof (title ?? '') !== 'string') return c.json({ error: 'Title must be a string' }, 400);
  const named = String(title ?? '').trim() || 'Untitled';
  try {
    const summary = await around.engine.summarise(named, content, c.req.raw.signal);
    return c.json({ summary, title: named, timestamp: timeOf(around) });
  } catch (thrown) {
    const { message } = reported(thrown, around, requestIds(c.req.raw));
    return c.json({ error: 'Failed to generate summary', details: message }, 500);
  }
}

// Faults

/** What a request can be refused for before it is looked at; anything else is a bug. */
const REFUSALS: ReadonlySet<FaultCode> = new Set([
  'limited',
  'unauthenticated',
  'invalid',
  'too_large',
  'too_slow',
  'overloaded',
]);

const timeOf = ({ now }: Surroundings): string => new Date(now()).toISOString();
