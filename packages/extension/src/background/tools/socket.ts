/** The socket of the `extension` contract: agents in other clients reach the browser through it. */
import type { Paired } from '../../shared/connection.ts';
import { checkPairing } from '../server.ts';

const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** Also keeps the worker from being suspended. */
const PING_MS = 20_000;
/** A socket on which nothing came for so long is dead. */
const SILENCE_MS = 50_000;

export type ToolRequest = {
  readonly executionId: string;
  readonly toolName: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly timeout: number;
};

export type ToolSocketEvents = {
  readonly capabilities: readonly string[];
  readonly request: (request: ToolRequest, reply: (frame: object) => void) => void;
};

export type ToolSocket = { close(): void };

const frameOf = (type: string, content: object): string => {
  const timestamp = Date.now();
  const id = `msg_${timestamp}_${crypto.randomUUID().replaceAll('-', '').slice(0, 9)}`;
  return JSON.stringify({ id, type, timestamp, ...content });
};

/** Connects again until it is closed. */
export function openToolSocket({ url, token }: Paired, events: ToolSocketEvents): ToolSocket {
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isClosed = false;

  function connect(): void {
    const opened = new WebSocket(`${url.replace('http', 'ws')}/extension?token=${encodeURIComponent(token)}`);
    socket = opened;
    let receivedAt = Date.now();
    const send = (type: string, content: object = {}) => {
      if (opened.readyState === WebSocket.OPEN) opened.send(frameOf(type, content));
    };
    const pulse = setInterval(() => {
      if (Date.now() - receivedAt > SILENCE_MS) opened.close();
      else send('ping');
    }, PING_MS);
    opened.onopen = () => {
      const metadata = { extensionVersion: chrome.runtime.getManifest().version };
      send('client_registration', {
        clientType: 'browser_extension',
        capabilities: events.capabilities,
        metadata,
      });
    };
    opened.onmessage = ({ data }) => {
      receivedAt = Date.now();
      const frame = parsed(data);
      if (frame?.type === 'registration_confirmed') failures = 0;
      if (frame?.type === 'tool_execution_request' && isRequest(frame))
        events.request(frame, (content) => send('tool_execution_response', content));
    };
    opened.onclose = ({ code }) => {
      clearInterval(pulse);
      if (isClosed) return;
      // A refused token closes with 1008; a refused origin never opens.
      if (code === 1008 || failures > 0) void checkPairing(url, token);
      timer = setTimeout(connect, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
    };
  }

  connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      socket?.close(1000);
    },
  };
}

function parsed(data: unknown): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(String(data));
  } catch {
    return null;
  }
}

const isRequest = (frame: object): frame is ToolRequest =>
  'executionId' in frame &&
  typeof frame.executionId === 'string' &&
  'toolName' in frame &&
  typeof frame.toolName === 'string' &&
  'parameters' in frame &&
  typeof frame.parameters === 'object' &&
  frame.parameters !== null &&
  'timeout' in frame &&
  typeof frame.timeout === 'number';
