import { afterEach, describe, expect, test } from 'bun:test';
import { CORPUS, type CorpusCase, REFUSED, type RefusedCase } from '../../testing/providers/http/corpus.ts';
import { closePeers, peer, textOf, turns, type Visit } from '../../testing/providers/http/peer.ts';
import { fetchClient, type HttpClient } from './client.ts';
import { socketClient } from './socket-client.ts';

afterEach(closePeers);

/** Differences of the runtime's client, and why they are acceptable behind a setting. */
const FETCH_DIFFERS: Readonly<Record<string, string>> = {
  'a folded header': 'fetch refuses it',
  'headers of 200 KB': 'fetch has no limit of its own',
};

type Cut = (response: Buffer) => readonly Buffer[];

const WHOLE: Cut = (response) => [response];
const BYTE_BY_BYTE: Cut = (response) => Array.from(response, (byte) => Buffer.of(byte));
const cutAt =
  (at: number): Cut =>
  (response) => [response.subarray(0, at), response.subarray(at)];

/** A server that answers every request with the response, in pieces. */
function served({ response, closes }: RefusedCase, cut: Cut) {
  const say = async (visit: Visit) => {
    for (const piece of cut(response)) {
      visit.say(piece);
      await turns(1);
    }
    if (closes) visit.hangUp();
  };
  return peer((visit) => void say(visit));
}

async function ask(client: HttpClient, url: string) {
  const { status, headers, body } = await client(
    { url, headers: {}, body: '{}' },
    AbortSignal.timeout(4_000),
  );
  return { status, headers, text: await textOf(body) };
}

async function expectRead(client: HttpClient, one: CorpusCase, cut: Cut): Promise<void> {
  const { url } = served(one, cut);
  const { status, text, headers } = await ask(client, url);
  expect({ status, text }).toEqual({ status: one.expected.status, text: one.expected.text });
  for (const [name, value] of Object.entries(one.expected.headers ?? {}))
    expect(headers.get(name)).toBe(value);
}

/** Large responses are split at some positions only. */
const places = ({ response }: CorpusCase): number[] => {
  const step = Math.ceil(response.length / 400);
  return Array.from({ length: Math.floor((response.length - 1) / step) }, (_, at) => (at + 1) * step);
};

for (const [name, client, differs] of [
  ['sockets', socketClient, {}],
  ['fetch', fetchClient, FETCH_DIFFERS],
] as const) {
  describe(`unusual responses over ${name} are read:`, () => {
    for (const one of CORPUS) {
      const reason: string | undefined = (differs as Record<string, string>)[one.name];
      const run = reason ? test.skip : test;
      run(`${one.name}${reason ? `: ${reason}` : ''}`, async () => {
        await expectRead(client, one, WHOLE);
        if (one.response.length < 2_000) await expectRead(client, one, BYTE_BY_BYTE);
        await Promise.all(places(one).map((at) => expectRead(client, one, cutAt(at))));
      });
    }
  });

  describe(`unusual responses over ${name} are refused:`, () => {
    for (const one of REFUSED) {
      const reason: string | undefined = (differs as Record<string, string>)[one.name];
      const run = reason ? test.skip : test;
      run(`${one.name}${reason ? `: ${reason}` : ''}`, async () => {
        const { url } = served(one, WHOLE);
        await expect(ask(client, url)).rejects.toThrow();
      });
    }
  });
}

describe('a connection with unusual responses', () => {
  test.each(CORPUS.map((one) => [one.name, one] as const))(
    'after %s is reused if it may be',
    async (_, one) => {
      const { url, visits } = served(one, WHOLE);
      await ask(socketClient, url);
      await turns(3);
      await ask(socketClient, url);
      expect(visits.length).toBe(one.reused ? 1 : 2);
    },
  );

  test.each(REFUSED.map((one) => [one.name, one] as const))(
    'after %s is reused only if its end is known',
    async (_, one) => {
      const { url, visits } = served(one, WHOLE);
      await expect(ask(socketClient, url)).rejects.toThrow();
      await turns(3);
      await expect(ask(socketClient, url)).rejects.toThrow();
      expect(visits.length).toBe(one.reused ? 1 : 2);
    },
  );
});
