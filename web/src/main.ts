import { mount } from "svelte";
import "./style.css";
import "./page.css";

const target = document.getElementById("app");
if (!target) throw new Error("the page has no element #app");
// `waymark lab --network` marks the page that it serves.
const live = document.querySelector("meta[name=live-network]") !== null;
const { default: Page } = live
  ? await import("./network/LiveNetwork.svelte")
  : await import("./App.svelte");
mount(Page, { target });
