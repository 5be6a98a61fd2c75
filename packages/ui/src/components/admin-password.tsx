/** Where the operator of a server finds the password of `admin`. */
export function AdminPassword() {
  return (
    <>
      The server printed the password of <code>admin</code> on its first start; on its machine,{' '}
      <code>parlance user password admin</code> sets a new one.
    </>
  );
}
