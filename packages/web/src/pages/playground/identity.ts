/**
 * The principal of the playground: the console's, or in open mode a user who logged in for the playground only. That
 * token is kept in memory.
 */
import { connect, type Parlance } from '@parlance/sdk';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';

export type Identity = {
  readonly name: string;
  readonly token: string | null;
  readonly client: Parlance;
};

export type Identities = {
  readonly identity: Identity;
  /** logged in for the playground only */
  readonly borrowed: boolean;
  /** Throws a `ParlanceError` if name or password is wrong. */
  logIn(name: string, password: string): Promise<void>;
  forget(): void;
};

export function useIdentity(): Identities {
  const { principal } = useServer();
  const [borrowed, setBorrowed] = useState<Identity | null>(null);
  return {
    identity: borrowed ?? { name: principal.id, token: parlance.token, client: parlance },
    borrowed: borrowed !== null,
    async logIn(name, password) {
      const client = connect();
      const { token } = await client.auth.login(name, password);
      setBorrowed({ name, token, client });
    },
    forget: () => setBorrowed(null),
  };
}
