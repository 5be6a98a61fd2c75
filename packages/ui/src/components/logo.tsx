/** URL of the logo, defined by the build. */
declare const LOGO: string;

/** Decorative: the name of the product is beside it. */
export const Logo = () => <img className="logo" src={LOGO} alt="" width={24} height={24} />;
