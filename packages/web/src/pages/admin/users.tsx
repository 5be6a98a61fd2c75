/** Users. Tokens can only be revoked all at once per user: the server keeps no list of issued tokens. */

import type { Role } from '@parlance/protocol';
import type { User } from '@parlance/sdk';
import { Button, Chip, Field, type IconName, Select, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { Menu, type MenuItem } from '@parlance/ui/components/menu.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { NewPassword } from './account.tsx';
import { Card, RemoveDialog, ROLES, rolesWithin, Section } from './section.tsx';

const { users } = parlance.admin;

export function UsersSection() {
  const polled = usePolled(users.list);
  const [dialog, setDialog] = useState<UserDialogState | null>(null);
  const mine = useServer().principal.id;

  async function run(work: () => Promise<unknown>, done: string): Promise<void> {
    await work();
    toast(done);
    polled.again();
  }

  const item = (label: string, icon: IconName, opened: UserDialogState): MenuItem => ({
    label,
    icon,
    onSelect: () => setDialog(opened),
  });

  return (
    <Section
      title="Users"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'add' })}>
          Add user
        </Button>
      }
    >
      {(list) => (
        <>
          <p className="hint">
            A token is valid for 24 hours. Signing a user out revokes all their tokens and closes their
            sockets and streams.
          </p>
          <ul className="admin-list" aria-label="Users">
            {list.map((user) => (
              <Card
                key={user.name}
                actions={
                  <>
                    <Button
                      onClick={() => setDialog({ what: 'logout', user })}
                      aria-label={`Sign ${user.name} out`}
                    >
                      Sign out
                    </Button>
                    <Menu
                      label={`Actions for ${user.name}`}
                      items={() => [
                        item('Change role', 'shield', { what: 'role', user }),
                        item('New password', 'edit', { what: 'password', user }),
                        { ...item('Remove', 'trash', { what: 'remove', user }), danger: true },
                      ]}
                    />
                  </>
                }
              >
                <strong>{user.name}</strong>{' '}
                <Chip variant={user.role === 'admin' ? 'good' : 'plain'}>{user.role}</Chip>
                {user.name === mine && <Chip variant="busy">you</Chip>}
                <p className="hint">
                  since {new Date(user.createdAt).toLocaleDateString()}
                  {user.fromSettings && '; managed by AUTH_USERS, which is applied at every start'}
                </p>
              </Card>
            ))}
          </ul>
          {dialog && <UserDialog dialog={dialog} mine={mine} run={run} close={() => setDialog(null)} />}
        </>
      )}
    </Section>
  );
}

// Dialogs for changes of a user.

export type UserDialogState =
  | { readonly what: 'add' }
  | { readonly what: 'role' | 'password' | 'logout' | 'remove'; readonly user: User };

type UserDialogProps = {
  readonly dialog: UserDialogState;
  readonly mine: string;
  readonly run: (work: () => Promise<unknown>, done: string) => Promise<void>;
  readonly close: () => void;
};

function UserDialog({ dialog, mine, run, close }: UserDialogProps) {
  if (dialog.what === 'add')
    return (
      <Dialog
        title="Add user"
        confirm="Add"
        onClose={close}
        onConfirm={(fields) => {
          const name = textOf(fields, 'name');
          const wanted = { name, password: textOf(fields, 'password'), role: roleOf(fields) };
          return run(() => users.add(wanted), `${name} was added.`);
        }}
      >
        <Field label="Name" name="name" required maxLength={64} pattern="[A-Za-z0-9._@\-]+" />
        <NewPassword label="Password" name="password" />
        <RoleField current="user" />
      </Dialog>
    );
  const { user } = dialog;
  const { name } = user;
  const end = name === mine ? 'This signs you out here, too.' : `${name} will have to sign in again.`;
  switch (dialog.what) {
    case 'role':
      return (
        <Dialog
          title={`Role of ${name}`}
          confirm="Change"
          onClose={close}
          onConfirm={(fields) => {
            const role = roleOf(fields);
            return run(() => users.change(name, { role }), `${name} is now ${role}.`);
          }}
        >
          <RoleField current={user.role} />
          <p className="hint">{end}</p>
        </Dialog>
      );
    case 'password':
      return (
        <Dialog
          title={`New password for ${name}`}
          confirm="Set"
          onClose={close}
          onConfirm={(fields) => {
            const password = textOf(fields, 'password');
            return run(() => users.change(name, { password }), `Password of ${name} changed.`);
          }}
        >
          <NewPassword label="Password" name="password" />
          <p className="hint">{end}</p>
        </Dialog>
      );
    case 'logout':
      return (
        <Dialog
          title={`Sign ${name} out?`}
          confirm="Sign out"
          danger
          onClose={close}
          onConfirm={() => run(() => users.logout(name), `${name} was signed out everywhere.`)}
        >
          <p>
            This revokes all tokens of {name} and closes their connections. Running turns continue. {end}
          </p>
        </Dialog>
      );
    case 'remove':
      return (
        <RemoveDialog
          name={name}
          onClose={close}
          onConfirm={() => run(() => users.remove(name), `${name} was removed.`)}
        >
          {name} can no longer sign in, and all tokens are revoked. The sessions remain visible to admins; a
          new user with the same name would own them.
        </RemoveDialog>
      );
  }
}

const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? '');
const roleOf = (fields: FormData): Role =>
  rolesWithin('admin').find((role) => role === fields.get('role')) ?? 'user';

const RoleField = ({ current }: { current: Role }) => (
  <Select
    label="Role"
    name="role"
    defaultValue={current}
    options={rolesWithin('admin').map((role) => [role, `${role}: ${ROLES[role]}`])}
  />
);
