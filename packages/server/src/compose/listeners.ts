/** The default listener and the extra ones, each of one dialect. */
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import {
  listenerRouter,
  type ServedDialect,
  type SocketRouter,
  socketRouter,
} from '../dialects/shared/routes.ts';
import { clientAddress, rememberAddress } from '../http/client-address.ts';
import { originPolicy } from '../http/origin-policy.ts';
import { pairedRequests } from '../http/paired-origins.ts';
import type { Backend } from './engine.ts';
import type { Front } from './front.ts';
import { refusalAlone, refusalOf, routesAlone } from './http.ts';
import { listenOrExplain } from './listen.ts';
import { openingOf } from './sockets.ts';
import type { ListeningPort } from './state.ts';

export type ListenerParts = { readonly backend: Backend; readonly front: Front };

/** Listens on every port, the default listener first. Throws if a port is in use. */
export function openListeners(
  config: Config,
  { backend, front }: ListenerParts,
  resources: AsyncDisposableStack,
): void {
  const { sockets, routes, state } = front;
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

  const listen = ({ port, dialect, router, own }: Listener, listener: number): ListeningPort => {
    const answering = own ? routesAlone(routes, own, log) : routes;
    const handshake = { authenticator, log, router, listener };
    const server = listenOrExplain(dialect, {
      hostname: config.host,
      port,
      sockets,
      admit,
      refusal: own ? refusalAlone(own) : refusal,
      log,
      opening: (request, peer) => openingOf(request, addressOf(request, peer), handshake),
      routes: (request, peer) => {
        rememberAddress(request, addressOf(request, peer));
        return answering.fetch(request);
      },
    });
    resources.defer(() => server.stop(true));
    return { dialect: dialect ?? 'all', port: server.port ?? port };
  };
  state.listening.push(...listenersOf(config, served).map(listen));
}

type Listener = {
  readonly port: number;
  readonly dialect: string | null;
  readonly router: SocketRouter;
  /** of an extra listener */
  readonly own?: Dialect;
};

function listenersOf({ port, doors }: Config, served: readonly ServedDialect[]): Listener[] {
  const extra = doors.map((door) => {
    const own = served.find(({ dialect }) => dialect.name === door.dialect);
    if (!own) throw new ConfigError(`door ${door.dialect}=${door.port} names no dialect that is served`);
    return { ...door, router: listenerRouter(own), own: own.dialect };
  });
  return [{ port, dialect: null, router: socketRouter(served) }, ...extra];
}
