"use strict";
// Dialogs, chosen files, and an invoice's lines and sums.

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    const dialog = document.getElementById(opener.dataset.dialog);
    dialog.dispatchEvent(new Event("opening"));
    dialog.showModal();
  }
  const closer = event.target.closest("[data-close]");
  if (closer) closer.closest("dialog").close();
});

document.querySelectorAll('.drop input[type="file"]').forEach((input) => input.addEventListener("change", () => {
  if (input.files.length) input.parentElement.querySelector("[data-file]").textContent = input.files[0].name;
}));

const cents = (text) => (/^-?\d{1,9}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : 0);
const grouped = /^\d{1,3}(,\d{3})+(\.\d+)?$/;
const plainNumber = (text) => {
  const plain = text.trim().replace(/^[$€£]/, "").trim();
  return grouped.test(plain) ? plain.replaceAll(",", "") : plain;
};
const halfUp = (value, by) => Math.floor((value * 2 + by) / (by * 2));

function setUpInvoice(form) {
  const lines = form.querySelector("[data-lines]");
  const signs = { USD: "$", EUR: "€", GBP: "£" };

  function written(value) {
    const whole = String(Math.floor(value / 100)).replace(/\B(?=(\d{3})+$)/g, ",");
    return `${signs[form.currency.value]}${whole}.${String(value % 100).padStart(2, "0")}`;
  }

  function reckon() {
    let net = 0, tax = 0;
    for (const line of lines.children) {
      const of = (name) => line.querySelector(`[name="${name}"]`).value;
      const amount = halfUp(cents(plainNumber(of("quantity"))) * cents(plainNumber(of("price"))), 100);
      line.querySelector("[data-amount]").textContent = written(amount);
      net += amount;
      tax += halfUp(amount * Number(of("tax")), 100);
    }
    form.querySelector("[data-net]").textContent = written(net);
    form.querySelector("[data-tax]").textContent = written(tax);
    form.querySelector("[data-total]").textContent = written(net + tax);
    number();
  }

  function number() {
    [...lines.children].forEach((line, i) => line.querySelectorAll("[name]").forEach((field) => {
      field.dataset.testid = `${field.name}-${i + 1}`;
    }));
    [...lines.querySelectorAll("[data-remove]")].forEach((button, i) => { button.dataset.testid = `remove-${i + 1}`; });
  }

  function add() {
    lines.append(form.querySelector("template").content.cloneNode(true));
    return lines.lastElementChild;
  }

  form.addEventListener("input", reckon);
  form.querySelector("[data-add]").addEventListener("click", () => {
    add().querySelector("input").focus();
    reckon();
  });
  lines.addEventListener("click", (event) => {
    const button = event.target.closest("[data-remove]");
    if (!button) return;
    button.closest("tr").remove();
    if (!lines.children.length) add();
    reckon();
  });
  form.querySelector("[data-add-product]").addEventListener("click", () => {
    const product = form.querySelector("[data-products]").selectedOptions[0].dataset;
    if (!product.name) return;
    const last = lines.lastElementChild;
    const line = last && !last.querySelector('[name="description"]').value ? last : add();
    line.querySelector('[name="description"]').value = product.name;
    line.querySelector('[name="price"]').value = product.price;
    line.querySelector('[name="tax"]').value = product.tax;
    line.querySelector('[name="quantity"]').select();
    reckon();
  });
  reckon();
}

document.querySelectorAll("[data-invoice]").forEach(setUpInvoice);
