/** Tokens presented to this node for sockets of other nodes. */
import { createHash } from 'node:crypto';
import type { Transport } from '../../cluster/transport.ts';
import type { Log } from '../../core/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import { KINDS } from './node-messages.ts';

export type RemoteTokensParts = {
  readonly transport: Transport;
  readonly authenticator: Authenticator;
  readonly log: Log;
};

const ANSWER_MS = 1_000;
const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 60;

export class RemoteTokens {
  /** functions that stop a watch, by node, socket and token */
  readonly #watches = new Map<string, () => void>();

  constructor(private readonly parts: RemoteTokensParts) {}

  /** Identifies tokens without revealing them. */
  static nameOf(token: string): string {
    return createHash('sha256').update(token).digest('hex');
  }

  /** Closes the socket when the token becomes invalid. */
  watch(node: string, socket: string, token: string): void {
    const key = keyOf(node, socket, RemoteTokens.nameOf(token));
    if (this.#watches.has(key)) return;
    const end = this.parts.authenticator.onTokenRevoked(token, (reason) => {
      this.#watches.delete(key);
      void this.#close(node, socket, reason);
    });
    this.#watches.set(key, end);
  }

  socketClosed(node: string, { socket, watch }: { readonly socket: string; readonly watch: string }): void {
    const key = keyOf(node, socket, watch);
    this.#watches.get(key)?.();
    this.#watches.delete(key);
  }

  nodeGone(node: string): void {
    for (const [key, end] of this.#watches) {
      if (!key.startsWith(`${node} `)) continue;
      end();
      this.#watches.delete(key);
    }
  }

  /** Retries until the node has closed the socket or has failed: the bus may be down briefly. */
  async #close(node: string, socket: string, reason: string): Promise<void> {
    const { transport, log } = this.parts;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      try {
        await transport.request(node, { kind: KINDS.close, body: { socket, reason } }, ANSWER_MS);
        return;
      } catch {
        if (!transport.others.nodes.includes(node)) return;
        await Bun.sleep(RETRY_MS);
      }
    }
    log.error({ node, socket }, 'failed to close connection after token revocation');
  }
}

const keyOf = (node: string, socket: string, watch: string): string => `${node} ${socket} ${watch}`;
