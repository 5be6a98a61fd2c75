/** Where hostile messages go: every dialect's socket and every endpoint, with the examples of the descriptions. */
import {
  creatingProbesOf,
  exampleIds,
  framesOf,
  probesOf,
  ROUTES,
  type Spoken,
  WIRES,
} from '../isolation/probes.ts';
import { nobodysIds } from '../isolation/things.ts';

const ids = nobodysIds();

export type SocketTarget = {
  readonly name: string;
  readonly path: string;
  readonly wire: Spoken;
  readonly greeting: object | undefined;
  readonly examples: readonly unknown[];
};
export type HttpTarget = {
  readonly method: string;
  readonly path: string;
  readonly examples: readonly unknown[];
};

export const socketTargets = (token: string): readonly SocketTarget[] =>
  Object.entries(WIRES).map(([name, wire]) => {
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

/** One for each path; logins are left out, since too many that fail are refused. */
export const HTTP_TARGETS: readonly HttpTarget[] = Object.values(ROUTES)
  .filter(({ security, body, revokesToken }) => !revokesToken && !(security === 'nobody' && body))
  .flatMap((route) => {
    const paths = Map.groupBy([...probesOf(route, ids), ...creatingProbesOf(route, ids)], ({ path }) => path);
    return [...paths].map(([path, probes]) => ({
      method: route.method.toUpperCase(),
      path,
      examples: probes.flatMap(({ body }) => (body === undefined ? [] : [body])),
    }));
  });

/** Every parameter that some endpoint reads. */
export const QUERY_PARAMETERS: readonly [string, ...string[]] = [
  'session',
  ...new Set(Object.values(ROUTES).flatMap(({ query }) => Object.keys(query?.shape ?? {}))),
];
