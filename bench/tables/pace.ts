/** Sends at a fixed rate, or as fast as possible, and records how long each request took. */
import { sleep } from '../measure/clock.ts';

export type Send = () => Promise<unknown>;
export type Paced = { readonly times: number[]; readonly rate: number };

async function timedSend(send: Send, times: number[]): Promise<void> {
  const before = performance.now();
  await send();
  times.push(performance.now() - before);
}

/** Does not wait for responses: a slow one delays no other. */
export async function atRate(send: Send, perSecond: number, ms: number): Promise<Paced> {
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const began = performance.now();
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - began) {
    while (sent.length < (elapsed * perSecond) / 1_000) sent.push(timedSend(send, times));
    await sleep(1);
  }
  await Promise.all(sent);
  return { times, rate: times.length / ((performance.now() - began) / 1_000) };
}

export async function atOnce(send: Send, writers: number, ms: number): Promise<Paced> {
  const times: number[] = [];
  const began = performance.now();
  const write = async () => {
    while (performance.now() - began < ms) await timedSend(send, times);
  };
  await Promise.all(Array.from({ length: writers }, write));
  return { times, rate: times.length / ((performance.now() - began) / 1_000) };
}
