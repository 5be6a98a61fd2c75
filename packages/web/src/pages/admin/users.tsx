/** Users and invitations. Tokens can only be revoked all at once per user: the server keeps no list of issued tokens. */

import type { Role } from '@parlance/protocol';
import type { Invitation, MadeInvitation, User } from '@parlance/sdk';
import {
  attempt,
  Button,
  Chip,
  CopyButton,
  Field,
  type IconName,
  Select,
  toast,
} from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { Menu, type MenuItem } from '@parlance/ui/components/menu.tsx';
import { hrefOf } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { NewPassword } from './account.tsx';
import { Card, RemoveDialog, ROLES, rolesWithin, Section } from './section.tsx';

const { invitations, users } = parlance.admin;

const usersAndInvitations = async () => ({ users: await users.list(), invited: await invitations.list() });

export function UsersSection() {
  const polled = usePolled(usersAndInvitations);
  const [dialog, setDialog] = useState<UserDialogState | null>(null);
  const [made, setMade] = useState<MadeInvitation | null>(null);
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
        <div className="admin-buttons">
          <Button onClick={() => setDialog({ what: 'add' })}>Add user</Button>
          <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'invite' })}>
            Invite
          </Button>
        </div>
      }
    >
      {({ users: list, invited }) => (
        <>
          <p className="hint">
            Whom you invite chooses the password. Signing a user out ends all their sign-ins and tokens and
            closes their connections.
          </p>
          {made && <MadeLink made={made} close={() => setMade(null)} />}
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
          {invited.length > 0 && (
            <>
              <h3>Invitations</h3>
              <ul className="admin-list" aria-label="Invitations">
                {invited.map((invitation) => (
                  <InvitationCard
                    key={invitation.id}
                    invitation={invitation}
                    onRevoke={() =>
                      void attempt(async () => {
                        await run(
                          () => invitations.revoke(invitation.id),
                          `${invitation.name} is not invited any more.`,
                        );
                        if (made?.id === invitation.id) setMade(null);
                      })
                    }
                  />
                ))}
              </ul>
            </>
          )}
          {dialog?.what === 'invite' && (
            <Dialog
              title="Invite a user"
              confirm="Create link"
              onClose={() => setDialog(null)}
              onConfirm={async (fields) => {
                const wanted = { name: textOf(fields, 'name'), role: roleOf(fields) };
                setMade(await invitations.add({ ...wanted, days: Number(textOf(fields, 'days')) }));
                polled.again();
              }}
            >
              <NameField />
              <RoleField current="user" />
              <Select
                label="Valid for"
                name="days"
                defaultValue="7"
                options={[
                  ['1', 'one day'],
                  ['7', 'a week'],
                  ['30', '30 days'],
                ]}
              />
              <p className="hint">The link works once. The person who opens it chooses the password.</p>
            </Dialog>
          )}
          {dialog && dialog.what !== 'invite' && (
            <UserDialog dialog={dialog} mine={mine} run={run} close={() => setDialog(null)} />
          )}
        </>
      )}
    </Section>
  );
}

/** The only time that the link can be seen. */
function MadeLink({ made, close }: { readonly made: MadeInvitation; readonly close: () => void }) {
  const link = location.origin + location.pathname + hrefOf({ page: 'invitation' }, { token: made.token });
  return (
    <div className="card key-made" role="status">
      <p>
        <strong>Send this link to {made.name} now.</strong> It will not be shown again, works once, and
        whoever opens it first becomes {made.name}.
      </p>
      <div className="key-text">
        <code>{link}</code>
        <CopyButton text={link} label="Copy link" />
      </div>
      <div>
        <Button onClick={close}>Done</Button>
      </div>
    </div>
  );
}

type InvitationCardProps = { readonly invitation: Invitation; readonly onRevoke: () => void };

const InvitationCard = ({
  invitation: { name, role, createdBy, expiresAt },
  onRevoke,
}: InvitationCardProps) => (
  <Card
    actions={
      <Button onClick={onRevoke} aria-label={`Revoke the invitation of ${name}`}>
        Revoke
      </Button>
    }
  >
    <strong>{name}</strong> <Chip>{role}</Chip>
    <p className="hint">
      invited by {createdBy}, until{' '}
      {new Date(expiresAt).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}
    </p>
  </Card>
);

// Dialogs for changes of a user.

export type UserDialogState =
  | { readonly what: 'add' }
  | { readonly what: 'invite' }
  | { readonly what: 'role' | 'password' | 'logout' | 'remove'; readonly user: User };

type UserDialogProps = {
  readonly dialog: Exclude<UserDialogState, { readonly what: 'invite' }>;
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
        <NameField />
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
            This ends all sign-ins and tokens of {name} and closes their connections. Running turns continue.{' '}
            {end}
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
          {name} can no longer sign in, and all sign-ins and tokens end. The sessions remain visible to
          admins; a new user with the same name would own them.
        </RemoveDialog>
      );
  }
}

const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? '');
const roleOf = (fields: FormData): Role =>
  rolesWithin('admin').find((role) => role === fields.get('role')) ?? 'user';

const NameField = () => (
  <Field label="Name" name="name" required maxLength={64} pattern="[A-Za-z0-9._@\-]+" />
);

const RoleField = ({ current }: { current: Role }) => (
  <Select
    label="Role"
    name="role"
    defaultValue={current}
    options={rolesWithin('admin').map((role) => [role, `${role}: ${ROLES[role]}`])}
  />
);
