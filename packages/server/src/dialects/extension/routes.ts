/** The HTTP endpoints of the contract. */
import { asFault, isObject } from '@parlance/protocol';
import type { Context, Hono } from 'hono';
import { principalOf } from '../../core/engine.ts';
import { reported, requestIds, type Surroundings } from '../dialect.ts';
import { retryWords, sayRetryAfter } from '../retry.ts';

export function routes(app: Hono, around: Surroundings): void {
  app.get('/health', (c) => c.json({ status: 'ok', timestamp: timeOf(around) }));
  app.post('/api/summarize', (c) => summarize(c, around));
}

async function summarize(c: Context, around: Surroundings): Promise<Response> {
  try {
    around.asked(c.req.raw);
    await principalOf(around.gate, c.req.raw);
  } catch (thrown) {
    const fault = asFault(thrown);
    sayRetryAfter(c, fault);
    if (fault.code === 'limited') return c.json({ error: retryWords(fault) }, 429);
    if (fault.code !== 'unauthenticated') throw thrown;
    return c.json({ error: fault.message }, 401);
  }
  const body = await c.req.json().catch(() => undefined);
  if (body === undefined) return c.json({ error: 'The body is not valid JSON' }, 400);
  const { content, title } = isObject(body) ? body : {};
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

const timeOf = ({ now }: Surroundings): string => new Date(now()).toISOString();
