/** Looking after a server: its users, its doors, its MCP servers, its figures. */
import type { Role } from '@parlance/protocol';
import type { Listener, McpServer, User } from './answers.ts';
import type { CallOptions } from './session.ts';
import type { Wire } from './wire.ts';

/** What is left out stays. */
export type UserChange = { readonly role?: Role; readonly password?: string };

export type Administration = {
  /** For admins; anybody else is refused with `forbidden`. */
  readonly users: {
    /** By name. */
    list(options?: CallOptions): Promise<readonly User[]>;
    add(
      user: { readonly name: string; readonly password: string; readonly role: Role },
      options?: CallOptions,
    ): Promise<User>;
    /** The tokens of the user end. The last admin stays one. */
    change(name: string, change: UserChange, options?: CallOptions): Promise<User>;
    /** The tokens of the user end. The last admin stays. */
    remove(name: string, options?: CallOptions): Promise<void>;
    /** Ends all tokens of the user, and whatever is connected with them. */
    logout(name: string, options?: CallOptions): Promise<void>;
  };
  /** Where the server listens and how many sockets each door has, the default door first. Needs `metrics:read`. */
  listeners(options?: CallOptions): Promise<readonly Listener[]>;
  /** The MCP servers that are configured. Needs `metrics:read`. */
  mcp(options?: CallOptions): Promise<readonly McpServer[]>;
  /** The figures of this moment, in Prometheus' text format. Needs `metrics:read`. */
  metrics(options?: CallOptions): Promise<string>;
};

export function administration(wire: Wire): Administration {
  const path = '/v1/admin/users';
  const of = (name: string) => `${path}/${encodeURIComponent(name)}`;
  return {
    users: {
      async list({ signal } = {}) {
        return (await wire.json<{ users: User[] }>({ path, signal })).users;
      },
      add: (body, { signal } = {}) => wire.json({ method: 'POST', path, body, signal }),
      change: (name, body, { signal } = {}) => wire.json({ method: 'PATCH', path: of(name), body, signal }),
      async remove(name, { signal } = {}) {
        await wire.response({ method: 'DELETE', path: of(name), signal });
      },
      async logout(name, { signal } = {}) {
        await wire.response({ method: 'POST', path: `${of(name)}/logout`, signal });
      },
    },
    async listeners({ signal } = {}) {
      return (await wire.json<{ doors: Listener[] }>({ path: '/v1/admin/doors', signal })).doors;
    },
    async mcp({ signal } = {}) {
      return (await wire.json<{ servers: McpServer[] }>({ path: '/v1/admin/mcp', signal })).servers;
    },
    async metrics({ signal } = {}) {
      return (await wire.response({ path: '/metrics', signal })).text();
    },
  };
}
