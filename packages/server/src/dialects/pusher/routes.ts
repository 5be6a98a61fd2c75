/** The signed HTTP API for server packages. Errors are plain text. */
import { Fault, type FaultCode } from '@parlance/protocol';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import type { Log } from '../../core/index.ts';
import type { ReadBody } from '../../http/read-body.ts';
import { reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { parseBody } from '../kit/json-body.ts';
import { setRetryAfter } from '../kit/retry.ts';
import { isOurs } from './application.ts';
import { isChannelName, kindOf } from './names.ts';
import type { ChannelStates, StateQuery } from './node-messages.ts';
import { terminate } from './other-nodes.ts';
import { encodedData } from './protocol.ts';
import { eventSchemas } from './schemas.ts';
import type { PusherServer } from './server.ts';
import { checkDigest, checkSignature } from './signature.ts';

export type SignedRouteDeps = { readonly log: Log; readonly readBody: ReadBody };

export function signedRoutes(app: Hono, server: PusherServer, { log, readBody }: SignedRouteDeps): void {
  const { application, channels, connected, limits, clock } = server;
  const { Trigger, Batch } = eventSchemas(limits);
  const api = new Hono<{ Variables: { body: Uint8Array } }>();

  api.onError((thrown, c) => {
    const fault = reported(thrown, { log }, requestIds(c.req.raw));
    setRetryAfter(c, fault);
    return c.text(fault.message, STATUSES[fault.code]);
  });
  api.notFound((c) => c.text('Not found', 404));

  api.use('/:app/*', async (c, next) => {
    if (c.req.param('app') !== application.id) throw new Fault('not_found', 'Unknown application');
    const { pathname: path, searchParams } = new URL(c.req.url);
    // The signature covers the digest of the body: the body is not read for a caller that cannot sign.
    checkSignature(application, { method: c.req.method, path, query: searchParams }, clock.now());
    const body = await readBody(c.req.raw, 'identified', limits.requestBytes);
    checkDigest(body, searchParams);
    c.set('body', body);
    await next();
  });

  /** The state on all nodes. */
  const statesOf = async (query: StateQuery): Promise<ChannelStates> =>
    server.nodes ? server.nodes.states(query) : channels.states(query);

  api.post('/:app/events', async (c) => {
    const event = fitting(Trigger, jsonOf(c.var.body));
    const names = event.channels ?? (event.channel === undefined ? [] : [event.channel]);
    const data = dataOf(event.data);
    const published = { event: event.name, data, except: event.socket_id ?? undefined };
    for (const name of names) channels.send(name, published);
    const info = infoOf(event.info);
    if (info.size === 0) return c.json({});
    const states = await statesOf({ names });
    const shown = names.map((name) => [name, attributes(name, states, info)]);
    return c.json({ channels: Object.fromEntries(shown) });
  });

  api.post('/:app/batch_events', async (c) => {
    const { batch } = fitting(Batch, jsonOf(c.var.body));
    const events = batch.map((event) => ({ ...event, data: dataOf(event.data), info: infoOf(event.info) }));
    for (const { channel, name, data, socket_id } of events)
      channels.send(channel, { event: name, data, except: socket_id ?? undefined });
    if (events.every(({ info }) => info.size === 0)) return c.json({});
    const states = await statesOf({ names: events.map(({ channel }) => channel) });
    return c.json({ batch: events.map(({ channel, info }) => attributes(channel, states, info)) });
  });

  api.get('/:app/channels', async (c) => {
    const prefix = c.req.query('filter_by_prefix') ?? '';
    const info = infoOf(c.req.query('info'));
    if (info.has('user_count') && kindOf(prefix) !== 'presence')
      throw new Fault('invalid', 'user_count needs a filter_by_prefix that begins with presence-');
    const states = await statesOf({ prefix });
    const names = Object.keys(states).filter((name) => !isHidden(name));
    const shown = names.map((name) => [name, attributes(name, states, info)]);
    return c.json({ channels: Object.fromEntries(shown) });
  });

  api.get('/:app/channels/:name', async (c) => {
    const name = channelOf(c.req.param('name'));
    const info = infoOf(c.req.query('info'));
    if (info.has('user_count') && kindOf(name) !== 'presence')
      throw new Fault('invalid', 'user_count is available for presence channels only');
    const states = await statesOf({ names: [name] });
    return c.json({ occupied: name in states, ...attributes(name, states, info) });
  });

  api.get('/:app/channels/:name/users', async (c) => {
    const name = channelOf(c.req.param('name'));
    if (kindOf(name) !== 'presence')
      throw new Fault('invalid', 'Users are available for presence channels only');
    const { users = [] } = (await statesOf({ names: [name] }))[name] ?? {};
    return c.json({ users: users.map((id) => ({ id })) });
  });

  api.post('/:app/users/:user/terminate_connections', (c) => {
    terminate(connected, c.req.param('user'));
    server.nodes?.terminate(c.req.param('user'));
    return c.json({});
  });

  const isHidden = (name: string): boolean => application.known && isOurs(name);

  function channelOf(name: string): string {
    if (!isChannelName(name, limits)) throw new Fault('invalid', 'Invalid channel name');
    if (isHidden(name)) throw new Fault('forbidden', KNOWN_SECRET);
    return name;
  }

  function attributes(name: string, states: ChannelStates, info: ReadonlySet<string>): object {
    const { subscribers = 0, users = [] } = states[name] ?? {};
    return {
      ...(info.has('user_count') && kindOf(name) === 'presence' ? { user_count: users.length } : {}),
      ...(info.has('subscription_count') ? { subscription_count: subscribers } : {}),
    };
  }

  function dataOf(data: unknown): string {
    const text = encodedData(data);
    if (Buffer.byteLength(text) <= limits.eventBytes) return text;
    throw new Fault(
      'too_large',
      `The data content of this event exceeds the allowed maximum (${limits.eventBytes} bytes)`,
    );
  }

  app.route('/apps', api);
}

const KNOWN_SECRET = 'SOCKUDO_APP_SECRET is the public default: set another one to use this';

// In

const ATTRIBUTES = ['user_count', 'subscription_count'];

/** Unknown attributes are ignored. */
const infoOf = (info: string | null | undefined): ReadonlySet<string> =>
  new Set((info ?? '').split(',').filter((name) => ATTRIBUTES.includes(name.trim())));

function jsonOf(body: Uint8Array): unknown {
  const parsed = parseBody(body);
  if ('problem' in parsed) throw new Fault('invalid', `The body ${parsed.problem}`, { cause: parsed.cause });
  return parsed.value;
}

function fitting<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

// Faults

/** Most of these faults cannot occur here. */
export const STATUSES: Record<FaultCode, ContentfulStatusCode> = { ...HTTP_STATUS, tool_invalid: 400 };
