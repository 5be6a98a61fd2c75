/**
 * The contract of every provider, as tests: recorded responses of real vendors and the project's own fixtures are served by a
 * local server, split at random positions, and read through the real driver. A model API that is not in `ENROLLED`, a recording
 * that belongs to none, and a hazard without a fixture all fail.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@parlance/protocol';
import type { ProviderEvent } from '../../core/ports/provider.ts';
import type { HttpClient } from '../../providers/http/client.ts';
import { ANTHROPIC } from './suite/anthropic.ts';
import { collect, joined, KEY, SMALL_PROMPT, streamedCalls } from './suite/collect.ts';
import { type Enrolment, HAZARDS } from './suite/enrolment.ts';
import { fixtureBytes, fixtureEvents, fixtureNames } from './suite/fixtures.ts';
import { GOOGLE } from './suite/google.ts';
import { OPENAI_CHAT } from './suite/openai-chat.ts';
import { OPENAI_RESPONSES } from './suite/openai-responses.ts';
import {
  hasRecordings,
  type Interaction,
  interactionsOf,
  RECORDINGS,
  recordingNames,
} from './suite/recordings.ts';
import { byteByByte, recut } from './suite/recut.ts';
import { type Upstream, upstream } from './suite/upstream.ts';

const ENROLLED: readonly Enrolment[] = [OPENAI_RESPONSES, OPENAI_CHAT, ANTHROPIC, GOOGLE];

/** Recordings that are not replayed, and why. */
const SKIPPED: Readonly<Record<string, string>> = {};

const SEEDS = [1, 2, 3, 5, 8];

const PROVIDERS = join(import.meta.dir, '../../providers');

/** `http`: the HTTP client of every model API. */
export function providerSuite(http: HttpClient): void {
  let vendor: Upstream;
  beforeAll(() => {
    vendor = upstream();
  });
  afterAll(() => vendor.stop());

  test('every model API is enrolled', () => {
    const enrolled = new Set(ENROLLED.map(({ file }) => file));
    const apis = readdirSync(PROVIDERS).filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.endsWith('.test.ts') &&
        /^export function \w+\([^)]*\): ModelApi</m.test(readFileSync(join(PROVIDERS, file), 'utf8')),
    );
    expect(apis.filter((file) => !enrolled.has(file))).toEqual([]);
    expect(apis.length).toBe(ENROLLED.length);
  });

  for (const enrolment of ENROLLED) {
    describe(`${enrolment.name}: fixtures`, () => fixtureTests(enrolment, http, () => vendor));
  }

  if (!hasRecordings()) {
    test.skip(`recordings: ${RECORDINGS} is not here`, () => undefined);
    return;
  }
  for (const name of recordingNames()) {
    const reason = SKIPPED[name];
    if (reason) test.skip(`${name}: ${reason}`, () => undefined);
    else describe(`recording ${name}`, () => recordingTests(name, http, () => vendor));
  }
}

function fixtureTests(enrolment: Enrolment, http: HttpClient, vendor: () => Upstream): void {
  const { name: api, lacks = {} } = enrolment;
  const names = fixtureNames(api);
  for (const hazard of HAZARDS) {
    const reason = lacks[hazard];
    if (reason) test.skip(`${hazard}: ${reason}`, () => undefined);
    else if (!names.includes(hazard))
      test(`has a fixture for ${hazard}`, () => expect(names).toContain(hazard));
  }
  for (const name of names) {
    test(name, async () => {
      const bytes = fixtureBytes(api, name);
      const expected = fixtureEvents(api, name);
      for (const pieces of [byteByByte(bytes), ...SEEDS.map((seed) => recut(bytes, seed))]) {
        vendor().answer = { status: 200, type: 'text/event-stream', pieces };
        const options = { key: KEY, baseUrl: vendor().url, model: 'fixture-1' };
        const events = joined(await collect(enrolment.api(options), SMALL_PROMPT, http));
        expect(withHost(events, vendor().url)).toEqual(expected);
      }
    });
  }
}

/** The vendor's port varies: fixtures contain `{host}`. */
const withHost = (events: readonly ProviderEvent[], url: string): unknown =>
  JSON.parse(JSON.stringify(events).replaceAll(new URL(url).host, '{host}'));

function recordingTests(name: string, http: HttpClient, vendor: () => Upstream): void {
  const enrolment = ENROLLED.find(({ folders }) => folders.includes(name.split('/')[0] ?? ''));
  if (!enrolment) {
    test('is enrolled', () =>
      expect(`${name} belongs to no model API`).toBe('enrolled, or skipped with a reason'));
    return;
  }
  const interactions = interactionsOf(name);
  for (const [index, interaction] of interactions.entries()) {
    const { request, response } = interaction;
    const numbered = interactions.length > 1 ? ` ${index + 1}` : '';
    if (response.status === 200) {
      test(`answer${numbered} is read, however it is split`, async () => {
        for (const seed of SEEDS)
          expectRead(
            await replay({ enrolment, interaction, seed, http }, vendor()),
            enrolment,
            response.body,
          );
      });
    } else {
      test(`refusal${numbered} is a fault in one sentence`, async () => {
        expectRefused(await replay({ enrolment, interaction, seed: 1, http }, vendor()), response.status);
      });
    }
    const recorded = JSON.parse(request.body) as JsonObject;
    if (enrolment.prompt(recorded)) {
      test(`request${numbered} matches the recording`, async () => {
        await replay({ enrolment, interaction, seed: 1, http }, vendor());
        const sent = vendor().requests.at(-1) as JsonObject;
        expect(enrolment.shape(sent)).toEqual(enrolment.shape(recorded));
      });
    }
  }
}

type Replay = {
  readonly enrolment: Enrolment;
  readonly interaction: Interaction;
  readonly seed: number;
  readonly http: HttpClient;
};

async function replay(
  { enrolment, interaction: { request, response }, seed, http }: Replay,
  vendor: Upstream,
): Promise<ProviderEvent[]> {
  const type = response.headers['content-type'] ?? '';
  const pieces = recut(new TextEncoder().encode(response.body), seed);
  vendor.answer = { status: response.status, type, pieces };
  const recorded = JSON.parse(request.body) as JsonObject;
  const model = String(recorded.model ?? /models\/([^:]+)/.exec(request.url)?.[1]);
  const api = enrolment.api({ key: KEY, baseUrl: vendor.url, model });
  return collect(api, enrolment.prompt(recorded) ?? SMALL_PROMPT, http);
}

function expectRead(events: readonly ProviderEvent[], enrolment: Enrolment, body: string): void {
  const { read, wholeArguments } = enrolment;
  const { text, reasoning, calls, usage, stop, sealed } = read(body);
  const of = <Type extends ProviderEvent['type']>(type: Type) =>
    events.filter((event): event is Extract<ProviderEvent, { type: Type }> => event.type === type);
  expect(of('failed')).toEqual([]);
  expect(
    of('text')
      .map((event) => event.text)
      .join(''),
  ).toBe(text);
  expect(
    of('reasoning')
      .map((event) => event.text)
      .join(''),
  ).toBe(reasoning);
  expect(of('sealed').length).toBe(sealed);
  expect(of('ended')).toEqual([{ type: 'ended', usage, stop }]);
  const made = of('call');
  expect(made.filter((call) => call.call === '' || call.malformed !== undefined)).toEqual([]);
  expect(made.map(({ tool, input }) => ({ tool, input }))).toEqual(
    calls.map(({ tool, input }) => ({ tool, input })),
  );
  // A missing id is read as an empty one.
  expect(made.map(({ call }, at) => (calls[at]?.call === '' ? '' : call))).toEqual(
    calls.map(({ call }) => call),
  );
  const streamed = streamedCalls(events).map(({ call }) => call);
  const given = calls.flatMap(({ call }) => (call === '' ? [] : [call]));
  expect(streamed).toEqual(wholeArguments ? [] : given);
}

function expectRefused(events: readonly ProviderEvent[], status: number): void {
  expect(events.length).toBe(1);
  const [event] = events;
  if (event?.type !== 'failed') throw new Error('a refusal must be a fault');
  const { code, message } = event.fault;
  const expected =
    status === 429
      ? /provider_limited/
      : status >= 500
        ? /provider_unavailable/
        : /provider_rejected|context_too_long/;
  expect(code).toMatch(expected);
  expect(message).toMatch(/^[^\r\n]{1,300}\.$/);
}
