/** The default theme in the colours of the console. */
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default DefaultTheme;
