/** The signed HTTP API, for the family's server packages. Errors are plain text. */
import { Fault, type FaultCode, nestsDeeper } from '@parlance/protocol';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import type { Log } from '../../core/engine.ts';
import { reported, requestIds } from '../dialect.ts';
import { HTTP_STATUS } from '../http-status.ts';
import { isOurs } from './application.ts';
import { isChannelName, kindOf } from './names.ts';
import { CODES, encodedData } from './protocol.ts';
import { eventSchemas } from './schemas.ts';
import type { PusherServer } from './server.ts';
import { checkRequest } from './signature.ts';

export function signedRoutes(app: Hono, server: PusherServer, log: Log): void {
  const { application, channels, connected, limits, clock } = server;
  const { Trigger, Batch } = eventSchemas(limits);
  const api = new Hono<{ Variables: { body: Uint8Array } }>();

  api.onError((thrown, c) => {
    const fault = reported(thrown, { log }, requestIds(c.req.raw));
    return c.text(fault.message, STATUSES[fault.code]);
  });
  api.notFound((c) => c.text('Not found', 404));

  api.use('/:app/*', async (c, next) => {
    if (c.req.param('app') !== application.id) throw new Fault('not_found', 'Unknown application');
    const body = await bytesOf(c, limits.requestBytes);
    const { pathname, searchParams } = new URL(c.req.url);
    checkRequest(application, { method: c.req.method, path: pathname, body }, searchParams, clock.now());
    c.set('body', body);
    await next();
  });

  api.post('/:app/events', (c) => {
    const event = fitting(Trigger, jsonOf(c.var.body));
    const names = event.channels ?? (event.channel === undefined ? [] : [event.channel]);
    for (const name of names) mayTouch(name);
    const data = dataOf(event.data);
    for (const name of names) channels.publish(name, event.name, data, event.socket_id ?? undefined);
    const info = infoOf(event.info);
    if (info.size === 0) return c.json({});
    return c.json({ channels: Object.fromEntries(names.map((name) => [name, attributes(name, info)])) });
  });

  api.post('/:app/batch_events', (c) => {
    const { batch } = fitting(Batch, jsonOf(c.var.body));
    const events = batch.map((event) => ({ ...event, data: dataOf(event.data), info: infoOf(event.info) }));
    for (const { channel } of events) mayTouch(channel);
    for (const { channel, name, data, socket_id } of events)
      channels.publish(channel, name, data, socket_id ?? undefined);
    if (events.every(({ info }) => info.size === 0)) return c.json({});
    return c.json({ batch: events.map(({ channel, info }) => attributes(channel, info)) });
  });

  api.get('/:app/channels', (c) => {
    const prefix = c.req.query('filter_by_prefix') ?? '';
    const info = infoOf(c.req.query('info'));
    if (info.has('user_count') && kindOf(prefix) !== 'presence')
      throw new Fault('invalid', 'user_count needs a filter_by_prefix that begins with presence-');
    const names = channels.names().filter((name) => name.startsWith(prefix) && !isHidden(name));
    return c.json({ channels: Object.fromEntries(names.map((name) => [name, attributes(name, info)])) });
  });

  api.get('/:app/channels/:name', (c) => {
    const name = channelOf(c.req.param('name'));
    const info = infoOf(c.req.query('info'));
    if (info.has('user_count') && kindOf(name) !== 'presence')
      throw new Fault('invalid', 'user_count is known of presence channels alone');
    return c.json({ occupied: channels.subscribers(name) > 0, ...attributes(name, info) });
  });

  api.get('/:app/channels/:name/users', (c) => {
    const name = channelOf(c.req.param('name'));
    if (kindOf(name) !== 'presence') throw new Fault('invalid', 'Users are known of presence channels alone');
    return c.json({ users: channels.members(name).map((id) => ({ id })) });
  });

  api.post('/:app/users/:user/terminate_connections', (c) => {
    if (application.guarded) throw new Fault('forbidden', GUARDED);
    connected.terminate(c.req.param('user'), CODES.unauthorised, 'You got disconnected by the app.');
    return c.json({});
  });

  const isHidden = (name: string): boolean => application.known && isOurs(name);

  function mayTouch(name: string): void {
    if (application.guarded && isOurs(name)) throw new Fault('forbidden', GUARDED);
  }

  function channelOf(name: string): string {
    if (!isChannelName(name, limits)) throw new Fault('invalid', 'Invalid channel name');
    if (isHidden(name)) throw new Fault('forbidden', GUARDED);
    return name;
  }

  function attributes(name: string, info: ReadonlySet<string>): object {
    return {
      ...(info.has('user_count') && kindOf(name) === 'presence'
        ? { user_count: channels.members(name).length }
        : {}),
      ...(info.has('subscription_count') ? { subscription_count: channels.subscribers(name) } : {}),
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

const GUARDED = 'SOCKUDO_APP_SECRET is the default, which everyone knows: set another one for this';

// In

const ATTRIBUTES = ['user_count', 'subscription_count'];

/** Attributes that we do not know are left out. */
const infoOf = (info: string | null | undefined): ReadonlySet<string> =>
  new Set((info ?? '').split(',').filter((name) => ATTRIBUTES.includes(name.trim())));

async function bytesOf(c: Context, most: number): Promise<Uint8Array> {
  const tooLarge = new Fault('too_large', `The body exceeds the allowed maximum (${most} bytes)`);
  if (Number(c.req.header('content-length') ?? 0) > most) throw tooLarge;
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  if (bytes.length > most) throw tooLarge;
  return bytes;
}

function jsonOf(body: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new Fault('invalid', 'The body is not valid JSON', { cause });
  }
  if (nestsDeeper(value)) throw new Fault('invalid', 'The body is nested too deeply');
  return value;
}

function fitting<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

// Faults

/** Most of them cannot come from here: nothing but requests is judged. */
export const STATUSES: Record<FaultCode, ContentfulStatusCode> = { ...HTTP_STATUS, tool_invalid: 400 };
