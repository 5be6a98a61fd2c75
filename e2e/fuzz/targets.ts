/** The targets of hostile messages: every socket and every endpoint, with the examples of the descriptions. */
import type { Described } from '../../packages/server/src/describe/descriptions.ts';
import { unusedIds } from '../isolation/private-data.ts';
import {
  creatingProbesOf,
  exampleIds,
  framesOf,
  probesOf,
  routesOf,
  type SocketDialect,
  socketDialectsOf,
} from '../isolation/probes.ts';

const ids = unusedIds();

export type SocketTarget = {
  readonly name: string;
  readonly path: string;
  readonly dialect: SocketDialect;
  readonly greeting: object | undefined;
  readonly examples: readonly unknown[];
};
export type HttpTarget = {
  readonly method: string;
  readonly path: string;
  readonly examples: readonly unknown[];
};

export const socketTargets = (descriptions: readonly Described[], token: string): readonly SocketTarget[] =>
  Object.entries(socketDialectsOf(descriptions)).map(([name, dialect]) => {
    const path = dialect.socket.connect(exampleIds(ids));
    const { greeting } = dialect.socket;
    return {
      name,
      dialect,
      path: `${path}${path.includes('?') ? '&' : '?'}token=${token}`,
      greeting: greeting?.send === undefined ? undefined : framesOf(dialect, greeting.send, ids)[0]?.frame,
      examples: Object.keys(dialect.messages.in).flatMap((type) =>
        framesOf(dialect, type, ids).map(({ frame }) => frame),
      ),
    };
  });

/** One target per path. Logins are left out, because too many failed ones are refused. */
export const httpTargets = (descriptions: readonly Described[]): readonly HttpTarget[] =>
  Object.values(routesOf(descriptions))
    .filter(({ security, body, revokesToken }) => !revokesToken && !(security === 'nobody' && body))
    .flatMap((route) => {
      const probes = [...probesOf(route, ids), ...creatingProbesOf(route, ids)];
      return [...Map.groupBy(probes, ({ path }) => path)].map(([path, same]) => ({
        method: route.method.toUpperCase(),
        path,
        examples: same.flatMap(({ body }) => (body === undefined ? [] : [body])),
      }));
    });

/** Every query parameter of any endpoint. */
export const queryParameters = (descriptions: readonly Described[]): readonly [string, ...string[]] => [
  'session',
  ...new Set(Object.values(routesOf(descriptions)).flatMap(({ query }) => Object.keys(query?.shape ?? {}))),
];
