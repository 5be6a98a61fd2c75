/** The targets of hostile messages: every socket and every endpoint, with the examples of the descriptions. */
import type { Described } from '../../packages/server/src/describe/descriptions.ts';
import {
  creatingProbesOf,
  exampleIds,
  framesOf,
  probesOf,
  routesOf,
  type SocketDialect,
  wiresOf,
} from '../isolation/probes.ts';
import { unusedIds } from '../isolation/things.ts';

const ids = unusedIds();

export type SocketTarget = {
  readonly name: string;
  readonly path: string;
  readonly wire: SocketDialect;
  readonly greeting: object | undefined;
  readonly examples: readonly unknown[];
};
export type HttpTarget = {
  readonly method: string;
  readonly path: string;
  readonly examples: readonly unknown[];
};

export const socketTargets = (descriptions: readonly Described[], token: string): readonly SocketTarget[] =>
  Object.entries(wiresOf(descriptions)).map(([name, wire]) => {
    const path = wire.socket.connect(exampleIds(ids));
    const { greeting } = wire.socket;
    return {
      name,
      wire,
      path: `${path}${path.includes('?') ? '&' : '?'}token=${token}`,
      greeting: greeting?.send === undefined ? undefined : framesOf(wire, greeting.send, ids)[0]?.frame,
      examples: Object.keys(wire.messages.in).flatMap((type) =>
        framesOf(wire, type, ids).map(({ frame }) => frame),
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
