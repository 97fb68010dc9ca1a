(* The distribution function of a standard normal number. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Definition bell (t : R) : R := exp (- (t * t / 2)).

Lemma bell_continuous t : continuous bell t.
Proof.
  apply (ex_derive_continuous bell); unfold bell; auto_derive; exact I.
Qed.

Lemma bell_integrable x y : ex_RInt bell x y.
Proof. apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply bell_continuous. Qed.

Definition area (x : R) : R := RInt bell 0 x.

Lemma area_between x y : area y - area x = RInt bell x y.
Proof.
  unfold area; rewrite <- (RInt_Chasles bell 0 x y) by apply bell_integrable.
  unfold plus; cbn; ring.
Qed.

Lemma area_increasing x y : x < y -> area x < area y.
Proof.
  intro L; apply Rminus_lt_0; rewrite area_between.
  apply RInt_gt_0; [exact L|intros; apply exp_pos|intros; apply bell_continuous].
Qed.

Lemma area_0 : area 0 = 0.
Proof. apply (RInt_point 0 bell). Qed.

Lemma area_is x : is_RInt bell 0 x (area x).
Proof. apply (RInt_correct bell), bell_integrable. Qed.

Lemma area_odd x : area (- x) = - area x.
Proof.
  assert (A : is_RInt (fun t => opp (bell (- t))) 0 x (area (- x))).
  { apply (is_RInt_comp_opp (V := R_NormedModule) bell 0 x); rewrite Ropp_0; apply area_is. }
  pose proof (is_RInt_opp (V := R_NormedModule) bell 0 x _ (area_is x)) as B.
  apply (is_RInt_ext (V := R_NormedModule) _ (fun t => opp (bell (- t)))) in B.
  - apply (is_RInt_unique (V := R_CompleteNormedModule)) in A, B.
    rewrite A in B; exact B.
  - intros t _; unfold bell; replace (- t * - t) with (t * t) by ring; reflexivity.
Qed.

Lemma area_bounded x : 0 <= x -> area x <= exp (1 / 2).
Proof.
  intro Hx; unfold area.
  assert (D : is_RInt (fun t => exp (1 / 2 - t)) 0 x
    (minus (- exp (1 / 2 - x)) (- exp (1 / 2 - 0)))).
  { apply (is_RInt_derive (fun t => - exp (1 / 2 - t))).
    - intros t _; auto_derive; [exact I|unfold Rminus, Rdiv; ring].
    - intros t _; apply (ex_derive_continuous (fun t => exp (1 / 2 - t))); auto_derive; exact I. }
  apply Rle_trans with (RInt (fun t => exp (1 / 2 - t)) 0 x).
  - apply RInt_le; [exact Hx|apply bell_integrable|eexists; exact D|].
    intros t _; unfold bell.
    destruct (Rle_lt_or_eq_dec (- (t * t / 2)) (1 / 2 - t)) as [L|E]; [pose proof (Rle_0_sqr (t - 1)) as Q; unfold Rsqr in Q; lra| |rewrite E; lra].
    left; apply exp_increasing, L.
  - rewrite (is_RInt_unique _ _ _ _ D); unfold minus, plus, opp; cbn.
    rewrite Rminus_0_r; pose proof (exp_pos (1 / 2 - x)); lra.
Qed.

Lemma area_continuous x : continuity_pt area x.
Proof.
  apply continuity_pt_filterlim, (continuous_RInt_1 bell 0 x area).
  exists (mkposreal 1 Rlt_0_1); intros y _; apply area_is.
Qed.

Definition half_area_lub : { m | is_lub (fun y => exists n, y = area (INR n)) m }.
Proof.
  apply completeness.
  - exists (exp (1 / 2)); intros y (n & ->); apply area_bounded, pos_INR.
  - exists (area (INR 0)), 0%nat; reflexivity.
Qed.

Definition half_area : R := proj1_sig half_area_lub.

Lemma area_below x : area x < half_area.
Proof.
  unfold half_area; destruct half_area_lub as [m [U L]]; cbn [proj1_sig].
  destruct (nfloor_ex (Rmax x 0) (Rmax_r x 0)) as (n & _ & Hn).
  apply Rlt_le_trans with (area (INR (S n))); [|apply U; eexists; reflexivity].
  apply area_increasing; rewrite S_INR; pose proof (Rmax_l x 0); lra.
Qed.

Lemma half_area_pos : 0 < half_area.
Proof. rewrite <- area_0; apply area_below. Qed.

Lemma area_reaches w : 0 <= w < half_area -> exists x, area x = w.
Proof.
  intro Hw.
  destruct (LPO (fun n => w < area (INR n))) as [[n Hn]|Hn].
  - intro n; destruct (Rlt_dec w (area (INR n))); auto.
  - assert (0 < INR n).
    { apply lt_0_INR; destruct n; [change (INR 0) with 0 in Hn; rewrite area_0 in Hn; lra|apply Nat.lt_0_succ]. }
    destruct (IVT_gen area 0 (INR n) w) as (x & _ & E).
    + intro; apply area_continuous.
    + rewrite area_0, Rmin_left, Rmax_right; lra.
    + exists x; exact E.
  - exfalso; revert Hw; unfold half_area; destruct half_area_lub as [m [U L]]; cbn [proj1_sig].
    intros [_ Hw]; apply (Rlt_not_le _ _ Hw), L; intros y (n & ->); apply Rnot_lt_le, Hn.
Qed.

(* half_area is sqrt(pi/2), which nothing below needs: it is what makes the
   whole 1. *)
Definition Phi (x : R) : R := 1 / 2 + area x / (2 * half_area).

Lemma Phi_increasing x y : x < y -> Phi x < Phi y.
Proof.
  intro L; pose proof half_area_pos; pose proof (area_increasing x y L).
  unfold Phi, Rdiv; apply Rplus_lt_compat_l, Rmult_lt_compat_r; [|assumption].
  apply Rinv_0_lt_compat; lra.
Qed.

Lemma Phi_mono x y : x <= y -> Phi x <= Phi y.
Proof.
  intros [L| ->]; [left; apply Phi_increasing, L|right; reflexivity].
Qed.

Lemma Phi_odd x : Phi (- x) = 1 - Phi x.
Proof. unfold Phi; rewrite area_odd; field; pose proof half_area_pos; lra. Qed.

Lemma Phi_bounds x : 0 < Phi x < 1.
Proof.
  assert (B : forall x, Phi x < 1).
  { intro y; pose proof half_area_pos as P; pose proof (area_below y) as A; unfold Phi.
    assert (area y / (2 * half_area) < 1 / 2).
    { apply (Rmult_lt_reg_r (2 * half_area)); [lra|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
    lra. }
  split; [|apply B]; pose proof (B (- x)) as Y; rewrite Phi_odd in Y; lra.
Qed.

Theorem Phi_derive x : is_derive Phi x (bell x / (2 * half_area)).
Proof.
  unfold Phi; pose proof half_area_pos.
  assert (D : is_derive area x (bell x)).
  { apply (is_derive_RInt bell area 0 x); [|apply bell_continuous].
    exists (mkposreal 1 Rlt_0_1); intros y _; apply area_is. }
  auto_derive; [eexists; exact D|].
  replace (Derive (fun x => area x) x) with (bell x)
    by (symmetry; apply is_derive_unique, D).
  unfold Rdiv; ring.
Qed.

(* The probit exists. *)
Theorem Phi_reaches u : 0 < u < 1 -> exists x, Phi x = u.
Proof.
  intro Hu; pose proof half_area_pos as P.
  destruct (Rle_lt_dec (1 / 2) u) as [L|L].
  - destruct (area_reaches ((2 * u - 1) * half_area)) as (x & E); [split; nra|].
    exists x; unfold Phi; rewrite E; field; lra.
  - destruct (area_reaches ((1 - 2 * u) * half_area)) as (x & E); [split; nra|].
    exists (- x); unfold Phi; rewrite area_odd, E; field; lra.
Qed.
