(* Whole-number noise is Gaussian noise (docs/theory/integer-noise.md,
   Theorem 1, for one number): if the probit of its distribution function rises
   by at most D from each number to the next, a shift by v costs at most what
   Gaussian noise costs at a shift of v D. *)

From Coq Require Import Reals Lra Lia ZArith.
From Coquelicot Require Import Coquelicot.
From Proofs Require Import Laws Normal.
Open Scope R_scope.

Section Probit.
Variables (f F g : Z -> R) (D : R).

(* F is the distribution function of a log-concave f whose support is all of Z,
   and g its probit. *)
Hypothesis f_pos : forall j, 0 < f j.
Hypothesis F_step : forall j, F j - F (j - 1)%Z = f j.
Hypothesis F_high : forall e, 0 < e -> exists J, forall j, (J <= j)%Z -> 1 - e < F j.
Hypothesis F_low : forall e, 0 < e -> exists J, forall j, (j <= J)%Z -> F j < e.
Hypothesis log_concave : forall j, f (j - 1)%Z * f (j + 1)%Z <= f j * f j.
Hypothesis g_probit : forall j, Phi (g j) = F j.
Hypothesis g_step : forall j, g j - g (j - 1)%Z <= D.

Theorem telescoping j v : g j - g (j - Z.of_nat v)%Z <= INR v * D.
Proof.
  induction v as [|v IH].
  - rewrite Z.sub_0_r; cbn [INR]; lra.
  - pose proof (g_step (j - Z.of_nat v)) as G.
    replace (j - Z.of_nat v - 1)%Z with (j - Z.of_nat (S v))%Z in G by lia.
    rewrite S_INR; lra.
Qed.

(* Each test "y >= j" has the false alarms of a test of Gaussian noise that
   finds no less. *)
Theorem threshold j v : Phi (g (j - 1)%Z - INR v * D) <= F (j - 1 - Z.of_nat v)%Z.
Proof.
  rewrite <- g_probit; apply Phi_mono; pose proof (telescoping (j - 1) v); lra.
Qed.

(* Log-concavity over v steps. *)
Lemma ratio_up y v :
  f (y - Z.of_nat v)%Z * f (y + 1)%Z <= f (y + 1 - Z.of_nat v)%Z * f y.
Proof.
  induction v as [|v IH].
  - rewrite 2!Z.sub_0_r; lra.
  - pose proof (log_concave (y - Z.of_nat v)) as L.
    replace (y - Z.of_nat (S v))%Z with (y - Z.of_nat v - 1)%Z by lia.
    replace (y + 1 - Z.of_nat (S v))%Z with (y - Z.of_nat v)%Z by lia.
    replace (y + 1 - Z.of_nat v)%Z with (y - Z.of_nat v + 1)%Z in IH by lia.
    set (x := (y - Z.of_nat v)%Z) in *.
    pose proof (f_pos (x - 1)); pose proof (f_pos x); pose proof (f_pos (x + 1));
      pose proof (f_pos y); pose proof (f_pos (y + 1)).
    apply (Rmult_le_reg_r (f x * f (x + 1)%Z)); [apply Rmult_lt_0_compat; assumption|].
    apply Rle_trans with ((f x * f x) * (f (x + 1)%Z * f y)).
    + replace (f (x - 1)%Z * f (y + 1)%Z * (f x * f (x + 1)%Z))
        with ((f (x - 1)%Z * f (x + 1)%Z) * (f x * f (y + 1)%Z)) by ring.
      apply Rmult_le_compat; try (apply Rmult_le_pos; lra); assumption.
    + apply Req_le; ring.
Qed.

Section Pair.
Variables (v : nat) (t : R).
Hypothesis Ht : 0 <= t.

(* The hockey stick of (v + N, N) over n numbers from lo on. *)
Fixpoint stick (lo : Z) (n : nat) : R :=
  match n with
  | O => 0
  | S n' => pos (f (lo - Z.of_nat v)%Z - t * f lo) + stick (lo + 1)%Z n'
  end.

Lemma gain_stays y : 0 <= f (y - Z.of_nat v)%Z - t * f y ->
  0 <= f (y + 1 - Z.of_nat v)%Z - t * f (y + 1)%Z.
Proof.
  intro G; pose proof (ratio_up y v) as R; pose proof (f_pos y); pose proof (f_pos (y + 1)).
  apply (Rmult_le_reg_r (f y)); [assumption|]; nra.
Qed.

Lemma stick_all lo n : 0 <= f (lo - Z.of_nat v)%Z - t * f lo ->
  stick lo n = F (lo + Z.of_nat n - 1 - Z.of_nat v)%Z - F (lo - 1 - Z.of_nat v)%Z -
    t * (F (lo + Z.of_nat n - 1)%Z - F (lo - 1)%Z).
Proof.
  revert lo; induction n as [|n IH]; intros lo G; cbn [stick].
  - cbn [Z.of_nat]; rewrite Z.add_0_r; ring.
  - rewrite IH by (apply gain_stays, G); rewrite pos_id by exact G.
    rewrite <- (F_step lo), <- (F_step (lo - Z.of_nat v)).
    replace (lo + 1 + Z.of_nat n - 1)%Z with (lo + Z.of_nat (S n) - 1)%Z by lia.
    replace (lo + 1 - 1)%Z with lo by lia.
    replace (lo - Z.of_nat v - 1)%Z with (lo - 1 - Z.of_nat v)%Z by lia.
    ring.
Qed.

Lemma F_mono_nat j n : F j <= F (j + Z.of_nat n)%Z.
Proof.
  induction n as [|n IH]; [rewrite Z.add_0_r; lra|].
  pose proof (F_step (j + Z.of_nat (S n))) as G; pose proof (f_pos (j + Z.of_nat (S n))).
  replace (j + Z.of_nat (S n) - 1)%Z with (j + Z.of_nat n)%Z in G by lia; lra.
Qed.

Lemma stick_more lo n m : stick lo n <= stick lo (n + m).
Proof.
  revert lo; induction n as [|n IH]; intro lo; cbn [stick Nat.add].
  - assert (P : forall m lo, 0 <= stick lo m).
    { clear; induction m as [|m IH]; intro lo; cbn [stick]; [lra|].
      apply Rplus_le_le_0_compat; [apply pos_ge0|apply IH]. }
    apply P.
  - apply Rplus_le_compat_l, IH.
Qed.

(* h is at least what every threshold test of Gaussian noise gains at this t. *)
Theorem shift_dominated h :
  (forall x, (1 - Phi (x - INR v * D)) - t * (1 - Phi x) <= h) ->
  forall lo n, stick lo n <= h.
Proof.
  intro B.
  assert (C : forall lo n, 0 <= f (lo - Z.of_nat v)%Z - t * f lo -> stick lo n <= h).
  { intros lo n G; apply le_epsilon; intros e He.
    destruct (F_high (e / (t + 1))) as (J & HJ).
    { apply Rmult_lt_0_compat; [exact He|apply Rinv_0_lt_compat; lra]. }
    pose (m := Z.to_nat (J - lo + 1)).
    apply Rle_trans with (stick lo (n + m)); [apply stick_more|].
    rewrite stick_all by exact G.
    set (hi := (lo + Z.of_nat (n + m) - 1)%Z).
    assert (Hhi : 1 - e / (t + 1) < F hi) by (apply HJ; unfold hi, m; lia).
    pose proof (threshold lo v) as T.
    specialize (B (g (lo - 1)%Z)); rewrite (g_probit (lo - 1)) in B.
    assert (F1 : F (hi - Z.of_nat v)%Z < 1) by (rewrite <- g_probit; apply Phi_bounds).
    assert (E : t * (1 - F hi) <= e).
    { apply Rle_trans with (t * (e / (t + 1))); [apply Rmult_le_compat_l; lra|].
      apply (Rmult_le_reg_r (t + 1)); [lra|].
      replace (t * (e / (t + 1)) * (t + 1)) with (t * e) by (field; lra); nra. }
    nra. }
  intros lo n; revert lo; induction n as [|n IH]; intro lo.
  - cbn [stick]; apply Rnot_lt_le; intro Neg.
    (* Thresholds far out gain nothing, so that h is not below 0. *)
    destruct (F_high (- h / (t + 1))) as (J & HJ).
    { apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]. }
    specialize (B (g J)); rewrite g_probit in B; specialize (HJ J (Z.le_refl J)).
    pose proof (Phi_bounds (g J - INR v * D)).
    assert (E : t * (1 - F J) < - h).
    { apply Rle_lt_trans with (t * (- h / (t + 1))); [apply Rmult_le_compat_l; lra|].
      apply (Rmult_lt_reg_r (t + 1)); [lra|].
      replace (t * (- h / (t + 1)) * (t + 1)) with (t * - h) by (field; lra); nra. }
    lra.
  - destruct (Rle_lt_dec 0 (f (lo - Z.of_nat v)%Z - t * f lo)) as [G|G]; [apply C, G|].
    cbn [stick]; rewrite pos_0 by lra; rewrite Rplus_0_l; apply IH.
Qed.

(* The other order, (N, v + N), over n numbers downwards from hi. *)
Fixpoint stick_back (hi : Z) (n : nat) : R :=
  match n with
  | O => 0
  | S n' => pos (f hi - t * f (hi - Z.of_nat v)%Z) + stick_back (hi - 1)%Z n'
  end.

Lemma gain_back y : 0 <= f y - t * f (y - Z.of_nat v)%Z ->
  0 <= f (y - 1)%Z - t * f (y - 1 - Z.of_nat v)%Z.
Proof.
  intro G; pose proof (ratio_up (y - 1) v) as R.
  replace (y - 1 + 1)%Z with y in R by lia.
  pose proof (f_pos y); pose proof (f_pos (y - 1)).
  apply (Rmult_le_reg_r (f y)); [assumption|]; nra.
Qed.

Lemma stick_back_all hi n : 0 <= f hi - t * f (hi - Z.of_nat v)%Z ->
  stick_back hi n = F hi - F (hi - Z.of_nat n)%Z -
    t * (F (hi - Z.of_nat v)%Z - F (hi - Z.of_nat n - Z.of_nat v)%Z).
Proof.
  revert hi; induction n as [|n IH]; intros hi G; cbn [stick_back].
  - cbn [Z.of_nat]; rewrite Z.sub_0_r; ring.
  - rewrite IH by (apply gain_back, G); rewrite pos_id by exact G.
    rewrite <- (F_step hi), <- (F_step (hi - Z.of_nat v)).
    replace (hi - 1 - Z.of_nat n)%Z with (hi - Z.of_nat (S n))%Z by lia.
    replace (hi - Z.of_nat v - 1)%Z with (hi - 1 - Z.of_nat v)%Z by lia.
    ring.
Qed.

Theorem shift_dominated_back h :
  (forall x, Phi x - t * Phi (x - INR v * D) <= h) ->
  forall hi n, stick_back hi n <= h.
Proof.
  intro B.
  assert (C : forall hi n, 0 <= f hi - t * f (hi - Z.of_nat v)%Z -> stick_back hi n <= h).
  { intros hi n G; apply le_epsilon; intros e He.
    assert (More : forall m n hi, stick_back hi n <= stick_back hi (n + m)).
    { clear; intros m n; induction n as [|n IH]; intro hi; cbn [stick_back Nat.add].
      - revert hi; induction m as [|m IH]; intro hi; cbn [stick_back]; [lra|].
        apply Rplus_le_le_0_compat; [apply pos_ge0|apply IH].
      - apply Rplus_le_compat_l, IH. }
    destruct (F_low (e / (t + 1))) as (J & HJ).
    { apply Rmult_lt_0_compat; [exact He|apply Rinv_0_lt_compat; lra]. }
    pose (m := Z.to_nat (hi - J)).
    apply Rle_trans with (stick_back hi (n + m)); [apply More|].
    rewrite stick_back_all by exact G.
    set (lo := (hi - Z.of_nat (n + m))%Z).
    assert (Hlo : F (lo - Z.of_nat v)%Z < e / (t + 1)) by (apply HJ; unfold lo, m; lia).
    pose proof (threshold (hi + 1) v) as T.
    replace (hi + 1 - 1)%Z with hi in T by lia.
    specialize (B (g hi)); rewrite (g_probit hi) in B.
    assert (F0 : 0 < F lo) by (rewrite <- g_probit; apply Phi_bounds).
    assert (E : t * F (lo - Z.of_nat v)%Z <= e).
    { apply Rle_trans with (t * (e / (t + 1))); [apply Rmult_le_compat_l; lra|].
      apply (Rmult_le_reg_r (t + 1)); [lra|].
      replace (t * (e / (t + 1)) * (t + 1)) with (t * e) by (field; lra); nra. }
    nra. }
  intros hi n; revert hi; induction n as [|n IH]; intro hi.
  - cbn [stick_back]; apply Rnot_lt_le; intro Neg.
    destruct (F_low (- h / (t + 1))) as (J & HJ).
    { apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]. }
    specialize (HJ (J - Z.of_nat v)%Z ltac:(lia)).
    pose proof (threshold (J + 1) v) as T.
    replace (J + 1 - 1)%Z with J in T by lia.
    specialize (B (g J)); pose proof (Phi_bounds (g J)).
    assert (E : t * F (J - Z.of_nat v)%Z < - h).
    { apply Rle_lt_trans with (t * (- h / (t + 1))); [apply Rmult_le_compat_l; lra|].
      apply (Rmult_lt_reg_r (t + 1)); [lra|].
      replace (t * (- h / (t + 1)) * (t + 1)) with (t * - h) by (field; lra); nra. }
    nra.
  - destruct (Rle_lt_dec 0 (f hi - t * f (hi - Z.of_nat v)%Z)) as [G|G]; [apply C, G|].
    cbn [stick_back]; rewrite pos_0 by lra; rewrite Rplus_0_l; apply IH.
Qed.
End Pair.
End Probit.
