/** The default listener and the extra ones, each of one dialect. */
import { Fault } from '@parlance/protocol';
import { type Changeable, type Config, ConfigError, type ListenerAddress } from '../config/config.ts';
import type { Log } from '../core/index.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import {
  listenerRouter,
  type ServedDialect,
  type SocketRouter,
  socketRouter,
} from '../dialects/kit/routes.ts';
import { clientAddress, rememberAddress } from '../http/client-address.ts';
import { originPolicy } from '../http/origin-policy.ts';
import { pairedRequests } from '../http/paired-origins.ts';
import { within } from '../lib/sleep.ts';
import type { Backend } from './engine.ts';
import type { Gateway } from './gateway.ts';
import { dialectRefusal, dialectRoutes, refusalOf } from './http.ts';
import { listenOrExplain } from './listen.ts';
import { openingOf } from './sockets.ts';
import type { FailedPort } from './state.ts';

export type ListenerParts = { readonly backend: Backend; readonly gateway: Gateway };

/**
 * Listens on every port, the default listener first. Throws if a port is in use. Listeners that admins store are opened and
 * closed when the settings change; one that cannot be opened is reported and does not stop the server.
 */
export function openListeners(
  config: Config,
  { backend, gateway }: ListenerParts,
  resources: AsyncDisposableStack,
): void {
  const { sockets, routes, state } = gateway;
  const { served } = state;
  const { authenticator, log, store, setup } = backend;
  const { hasOrigin } = store.pairings;
  const admit = originPolicy(
    {
      host: config.host,
      get allowedOrigins() {
        return setup.live.current.allowedOrigins;
      },
    },
    { log, paired: pairedRequests({ authenticator, hasOrigin }), refused: state.refusedOrigins },
  );
  const refusal = refusalOf(served.map(({ dialect }) => dialect));
  const addressOf = (request: Request, peer: string | undefined) =>
    clientAddress(request.headers, peer, config.trustedProxies);

  let count = 0;
  const open = ({ port, dialect, router, own }: Listener): OpenListener => {
    const answering = own ? dialectRoutes(routes, own, log) : routes;
    const number = count++;
    const handshake = { authenticator, log, router, listener: number };
    const server = listenOrExplain(dialect, {
      hostname: config.host,
      port,
      sockets,
      admit,
      refusal: own ? dialectRefusal(own) : refusal,
      log,
      opening: (request, peer) => openingOf(request, addressOf(request, peer), handshake),
      routes: (request, peer) => {
        rememberAddress(request, addressOf(request, peer));
        return answering.fetch(request);
      },
    });
    const listening = { dialect: dialect ?? 'all', port: server.port ?? port, number };
    state.listening.push(listening);
    const unlist = () => {
      const index = state.listening.indexOf(listening);
      if (index !== -1) state.listening.splice(index, 1);
    };
    return {
      async drain() {
        unlist();
        sockets.closeAt(number);
        const grace = Math.max(config.grace, MIN_GRACE_MS);
        const stopped = server.stop();
        await within(grace - LAST_EVENT_MS, stopped);
        await state.streams.close(REMOVED, { withinMs: LAST_EVENT_MS, listener: server });
        await within(FLUSH_MS, stopped);
        await server.stop(true);
      },
      async close() {
        unlist();
        await server.stop(true);
      },
    };
  };
  const keep = (listener: OpenListener) => resources.defer(() => listener.close());
  keep(open({ port: config.port, dialect: null, router: socketRouter(served) }));
  for (const address of config.listeners) keep(open(extraListener(address, served)));
  const stored = new StoredListeners({
    open: (address) => open(extraListener(address, served)),
    failed: state.failed,
    log,
  });
  const follow = ({ listeners }: Changeable) =>
    stored.replace(listeners.filter((address) => !isIn(config.listeners, address)));
  follow(setup.live.current);
  setup.live.onChange(follow);
  resources.defer(() => stored.close());
}

/** Enough for the response to the request that removes the listener it came in on. */
const MIN_GRACE_MS = 1_000;

/** Of the grace period, the time for the last events of streams to be written. */
const LAST_EVENT_MS = 500;

/** Time for the connections of ended streams to close. */
const FLUSH_MS = 100;

const REMOVED = new Fault('shutting_down', 'The listener was removed.');

type Listener = {
  readonly port: number;
  readonly dialect: string | null;
  readonly router: SocketRouter;
  /** set for an extra listener */
  readonly own?: Dialect;
};

function extraListener(address: ListenerAddress, served: readonly ServedDialect[]): Listener {
  const own = served.find(({ dialect }) => dialect.name === address.dialect);
  if (!own)
    throw new ConfigError(`--listen ${address.dialect}=${address.port} does not name a served dialect`);
  return { ...address, router: listenerRouter(own), own: own.dialect };
}

// Extra listeners that admins add and remove while the server runs.

type OpenListener = {
  /** Accepts nothing new and closes its sockets. Resolves when its requests have ended, or a limit has passed. */
  drain(): Promise<void>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
};

type StoredListenerParts = {
  /** Throws if the port cannot be used. */
  readonly open: (address: ListenerAddress) => OpenListener;
  /** those that could not be opened, for the administration */
  readonly failed: FailedPort[];
  readonly log: Log;
};

const isIn = (addresses: readonly ListenerAddress[], { dialect, port }: ListenerAddress): boolean =>
  addresses.some((address) => address.dialect === dialect && address.port === port);

class StoredListeners {
  #opened: readonly { readonly address: ListenerAddress; readonly listener: OpenListener }[] = [];
  readonly #draining = new Set<OpenListener>();

  constructor(private readonly parts: StoredListenerParts) {}

  /** Drains those that are no longer wanted and opens new ones. The others stay open. */
  replace(configured: readonly ListenerAddress[]): void {
    const { open, failed, log } = this.parts;
    const gone = this.#opened.filter(({ address }) => !isIn(configured, address));
    const kept = this.#opened.filter((opened) => !gone.includes(opened));
    for (const { address, listener } of gone) this.#drain(address, listener);
    failed.length = 0;
    const opened = [...kept];
    for (const address of configured) {
      if (opened.some((one) => isIn([one.address], address))) continue;
      try {
        opened.push({ address, listener: open(address) });
        log.info(address, 'listener opened');
      } catch (err) {
        failed.push({ ...address, problem: problemOf(err) });
        log.error({ ...address, err }, 'failed to open listener');
      }
    }
    this.#opened = opened;
  }

  #drain(address: ListenerAddress, listener: OpenListener): void {
    const { log } = this.parts;
    this.#draining.add(listener);
    listener
      .drain()
      .then(() => log.info(address, 'listener closed'))
      .catch((err) => log.error({ ...address, err }, 'failed to close listener'))
      .finally(() => this.#draining.delete(listener));
  }

  /** Ends drains in progress, too. */
  async close(): Promise<void> {
    const open = this.#opened.map(({ listener }) => listener);
    await Promise.all([...open, ...this.#draining].map((listener) => listener.close()));
  }
}

/** The messages of `listen` name a flag; here the port is changed in the console. */
function problemOf(thrown: unknown): string {
  const code = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  if (code instanceof Error && 'code' in code) {
    if (code.code === 'EADDRINUSE') return 'The port is in use.';
    if (code.code === 'EACCES') return 'The server may not use this port.';
  }
  return 'The listener could not be opened.';
}
