/** A server whose model repeats messages or makes the calls they name, and a client of its Responses API. */
import type OpenAI from 'openai';
import { repeating } from '../exchange.ts';
import { modelServer } from '../model-server.ts';
import { openaiClient } from './client.ts';

export type Event = OpenAI.Responses.ResponseStreamEvent;
export type Item = OpenAI.Responses.ResponseInputItem;

export const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
export const OWN_TOOLS = { type: 'mcp', server_label: 'parlance' } as OpenAI.Responses.Tool;

type Params = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

export async function responsesServer() {
  const served = await modelServer(repeating);
  const client = openaiClient(served.server.http);
  return {
    ...served,
    client,
    ask: (input: Params['input'], more: Params = {}) =>
      client.responses.create({ model: 'fake', input, ...more }).withResponse(),
  };
}

/** All events of a stream. */
export async function eventsOf(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The final response; it may have failed. */
export function finalOf(events: readonly Event[]): OpenAI.Responses.Response {
  const last = events.at(-1);
  if (!last || !('response' in last)) throw new Error(`the stream ended with ${last?.type}`);
  return last.response;
}

export const textOf = ({ output }: OpenAI.Responses.Response): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => ('text' in part ? part.text : ''))
    .join('');

/** The calls of the caller's functions. */
export const callsIn = ({ output }: OpenAI.Responses.Response) =>
  output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
