(* The folded kernel: where all losses lie on one lattice, N frequencies are the
   whole contour sum (docs/theory/contour.md). What the sum equals is I_theta with its
   aliases, and not delta, where theta < 0. *)

From Coq Require Import Reals Lra List Lia ZArith.
From Coquelicot Require Import Coquelicot.
From Proofs Require Import Laws.
Import ListNotations.
Open Scope R_scope.

(* Sums of complex numbers over lists. *)

Fixpoint csum {A : Type} (f : A -> C) (l : list A) : C :=
  match l with
  | [] => RtoC 0
  | x :: l' => Cplus (f x) (csum f l')
  end.

Section Csums.
Context {A : Type}.
Implicit Types (f g : A -> C) (l : list A).
Open Scope C_scope.

Lemma csum_ext f g l : (forall x, In x l -> f x = g x) -> csum f l = csum g l.
Proof.
  induction l as [|a l IH]; simpl; intro H; [reflexivity|].
  rewrite H by auto; rewrite IH by auto; reflexivity.
Qed.

Lemma csum_plus f g l : csum (fun x => f x + g x) l = csum f l + csum g l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma csum_scal c f l : csum (fun x => c * f x) l = c * csum f l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma csum_zero l : csum (fun _ => RtoC 0) l = 0.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma csum_real (f : A -> R) l : csum (fun x => RtoC (f x)) l = RtoC (sum f l).
Proof. induction l as [|a l IH]; simpl; [reflexivity|]; rewrite IH, RtoC_plus; reflexivity. Qed.

Lemma csum_app f l l' : csum f (l ++ l') = csum f l + csum f l'.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.
End Csums.

Lemma csum_map {A B : Type} (g : A -> B) (f : B -> C) l :
  csum f (map g l) = csum (fun x => f (g x)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma csum_flat_map {A B : Type} (g : A -> list B) (f : B -> C) l :
  csum f (flat_map g l) = csum (fun x => csum f (g x)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite csum_app, IH]; reflexivity. Qed.

Lemma csum_swap {A B : Type} (f : A -> B -> C) l l' :
  csum (fun x => csum (f x) l') l = csum (fun y => csum (fun x => f x y) l) l'.
Proof.
  induction l as [|a l IH]; simpl; [symmetry; apply csum_zero|].
  rewrite csum_plus, IH; reflexivity.
Qed.

(* The complex exponential. *)

Definition cexp (z : C) : C := (exp (fst z) * cos (snd z), exp (fst z) * sin (snd z)).

Lemma cexp_plus z w : cexp (z + w)%C = (cexp z * cexp w)%C.
Proof.
  unfold cexp, Cmult, Cplus; cbn [fst snd]; rewrite exp_plus, cos_plus, sin_plus.
  f_equal; ring.
Qed.

Lemma cexp_real x : cexp (RtoC x) = RtoC (exp x).
Proof. unfold cexp, RtoC; cbn [fst snd]; rewrite cos_0, sin_0; f_equal; ring. Qed.

Lemma cexp_0 : cexp (RtoC 0) = RtoC 1.
Proof. rewrite cexp_real, exp_0; reflexivity. Qed.

Lemma cexp_turn t : cexp (0, 2 * PI * IZR t) = RtoC 1.
Proof.
  unfold cexp, RtoC; cbn [fst snd]; rewrite exp_0.
  assert (S : sin (PI * IZR t) = 0) by (rewrite Rmult_comm; apply sin_eq_0_1; eexists; reflexivity).
  replace (2 * PI * IZR t) with (2 * (PI * IZR t)) by ring.
  rewrite cos_2a_sin, sin_2a, S; f_equal; ring.
Qed.

Lemma RtoC_neq x y : x <> y -> RtoC x <> RtoC y.
Proof. intros H E; apply H, RtoC_inj, E. Qed.

(* 1 - e^(-w) is not 0 where the real part of w is not. *)
Lemma cexp_not_1 x y : x <> 0 -> (1 - cexp (x, y) <> 0)%C.
Proof.
  intros Hx E.
  assert (E' : cexp (x, y) = RtoC 1) by (replace (cexp (x, y)) with (1 - (1 - cexp (x, y)))%C by ring; rewrite E; ring).
  apply (f_equal (fun z => fst z * fst z + snd z * snd z)) in E'.
  unfold cexp, RtoC in E'; cbn [fst snd] in E'.
  pose proof (sin2_cos2 y) as S; unfold Rsqr in S.
  assert (exp (x + x) = 1) by (rewrite exp_plus; nra).
  rewrite <- exp_0 in H; apply exp_inv in H; lra.
Qed.

(* Sums over all integers, split anywhere. *)

Definition zseries (f : Z -> R) (l : R) : Prop :=
  exists c l1 l2,
    is_series (fun i => f (c - Z.of_nat i)%Z) l1 /\
    is_series (fun i => f (c + 1 + Z.of_nat i)%Z) l2 /\ l = l1 + l2.

Lemma series_shift (a : nat -> R) (l : R) :
  is_series a l -> is_series (fun i => a (S i)) (l - a 0%nat).
Proof.
  intro H; apply is_series_incr_1; change (is_series a ((l - a 0%nat) + a 0%nat)).
  replace (l - a 0%nat + a 0%nat) with l by ring; exact H.
Qed.

Lemma series_unshift (a : nat -> R) (l : R) :
  is_series (fun i => a (S i)) l -> is_series a (l + a 0%nat).
Proof.
  intro H; apply is_series_decr_1.
  change (is_series (fun k => a (S k)) ((l + a 0%nat) + - a 0%nat)).
  replace (l + a 0%nat + - a 0%nat) with l by ring; exact H.
Qed.

Lemma series_plus (a b : nat -> R) (l l' : R) :
  is_series a l -> is_series b l' -> is_series (fun i => a i + b i) (l + l').
Proof. exact (is_series_plus a b l l'). Qed.

Lemma series_scal c (a : nat -> R) (l : R) :
  is_series a l -> is_series (fun i => c * a i) (c * l).
Proof. exact (is_series_scal_l c a l). Qed.

Lemma zseries_split f l : zseries f l -> forall c, exists l1 l2,
  is_series (fun i => f (c - Z.of_nat i)%Z) l1 /\
  is_series (fun i => f (c + 1 + Z.of_nat i)%Z) l2 /\ l = l1 + l2.
Proof.
  intros (c0 & l1 & l2 & H1 & H2 & E) c.
  assert (P : forall n c0 l1 l2,
    is_series (fun i => f (c0 - Z.of_nat i)%Z) l1 ->
    is_series (fun i => f (c0 + 1 + Z.of_nat i)%Z) l2 -> l = l1 + l2 ->
    (c = c0 + Z.of_nat n \/ c = c0 - Z.of_nat n)%Z ->
    exists l1 l2, is_series (fun i => f (c - Z.of_nat i)%Z) l1 /\
      is_series (fun i => f (c + 1 + Z.of_nat i)%Z) l2 /\ l = l1 + l2).
  2: { apply (P (Z.abs_nat (c - c0)) c0 l1 l2); auto; lia. }
  clear c0 l1 l2 H1 H2 E; induction n as [|n IH]; intros c0 l1 l2 H1 H2 E [Hc|Hc].
  - exists l1, l2; replace c with c0 by lia; auto.
  - exists l1, l2; replace c with c0 by lia; auto.
  - apply (IH (c0 + 1)%Z (l1 + f (c0 + 1)%Z) (l2 - f (c0 + 1)%Z)); [| |lra|left; lia].
    + replace (f (c0 + 1)%Z) with (f (c0 + 1 - Z.of_nat 0)%Z) by (f_equal; lia).
      apply (series_unshift (fun i => f (c0 + 1 - Z.of_nat i)%Z)).
      eapply is_series_ext; [|exact H1]; intro i; cbn beta; f_equal; lia.
    + replace (f (c0 + 1)%Z) with (f (c0 + 1 + Z.of_nat 0)%Z) by (f_equal; lia).
      apply series_shift in H2; eapply is_series_ext; [|exact H2].
      intro i; cbn beta; f_equal; lia.
  - apply (IH (c0 - 1)%Z (l1 - f c0) (l2 + f c0)); [| |lra|right; lia].
    + replace (f c0) with (f (c0 - Z.of_nat 0)%Z) by (f_equal; lia).
      apply series_shift in H1; eapply is_series_ext; [|exact H1].
      intro i; cbn beta; f_equal; lia.
    + replace (f c0) with (f (c0 - 1 + 1 + Z.of_nat 0)%Z) by (f_equal; lia).
      apply (series_unshift (fun i => f (c0 - 1 + 1 + Z.of_nat i)%Z)).
      eapply is_series_ext; [|exact H2]; intro i; cbn beta; f_equal; lia.
Qed.

Lemma zseries_unique f l l' : zseries f l -> zseries f l' -> l = l'.
Proof.
  intros Z1 Z2; destruct (zseries_split f l Z1 0%Z) as (a & b & Ha & Hb & ->).
  destruct (zseries_split f l' Z2 0%Z) as (a' & b' & Ha' & Hb' & ->).
  apply is_series_unique in Ha, Hb, Ha', Hb'; congruence.
Qed.

Lemma zseries_ext f g l : (forall m, f m = g m) -> zseries f l -> zseries g l.
Proof.
  intros E (c & l1 & l2 & H1 & H2 & Hl); exists c, l1, l2; split; [|split; [|exact Hl]].
  - eapply is_series_ext; [|exact H1]; intro; apply E.
  - eapply is_series_ext; [|exact H2]; intro; apply E.
Qed.

Lemma series_zero : is_series (fun _ : nat => 0) 0.
Proof.
  eapply filterlim_ext; [|apply filterlim_const]; intro n; cbn beta.
  rewrite sum_n_const; symmetry; apply Rmult_0_r.
Qed.

Lemma zseries_zero : zseries (fun _ => 0) 0.
Proof. exists 0%Z, 0, 0; repeat split; try apply series_zero; ring. Qed.

Lemma zseries_plus f g l l' :
  zseries f l -> zseries g l' -> zseries (fun m => f m + g m) (l + l').
Proof.
  intros Z1 Z2; destruct (zseries_split f l Z1 0%Z) as (a & b & Ha & Hb & ->).
  destruct (zseries_split g l' Z2 0%Z) as (a' & b' & Ha' & Hb' & ->).
  exists 0%Z, (a + a'), (b + b'); split; [|split; [|ring]]; apply series_plus; assumption.
Qed.

Lemma zseries_scal c f l : zseries f l -> zseries (fun m => c * f m) (c * l).
Proof.
  intros (k & l1 & l2 & H1 & H2 & ->); exists k, (c * l1), (c * l2).
  split; [|split; [|ring]]; apply series_scal; assumption.
Qed.

Lemma zseries_sum {A : Type} (f : A -> Z -> R) (s : A -> R) l :
  (forall x, In x l -> zseries (f x) (s x)) ->
  zseries (fun m => sum (fun x => f x m) l) (sum s l).
Proof.
  induction l as [|x l IH]; cbn [sum]; intro H; [apply zseries_zero|].
  apply zseries_plus; [apply H; left; reflexivity|apply IH; intros; apply H; right; auto].
Qed.

(* A geometric series on either side. *)
Lemma series_exp c x : 0 < x -> is_series (fun i => c * exp (- (x * INR i))) (c / (1 - exp (- x))).
Proof.
  intro Hx; unfold Rdiv.
  assert (exp (- x) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (G : is_series (fun i => exp (- x) ^ i) (/ (1 - exp (- x))))
    by (apply is_series_geom; rewrite Rabs_pos_eq; [assumption|left; apply exp_pos]).
  apply (series_scal c) in G; eapply is_series_ext; [|exact G].
  intro i; change (c * exp (- x) ^ i = c * exp (- (x * INR i))); f_equal.
  induction i as [|i IH]; [cbn; rewrite Rmult_0_r, Ropp_0, exp_0; reflexivity|].
  rewrite S_INR; cbn [pow]; rewrite IH, <- exp_plus; f_equal; ring.
Qed.

(* Frequencies. *)

Lemma csum_geometric x y n :
  ((1 - cexp (x, y)) * csum (fun k => cexp (INR k * x, INR k * y)%R) (seq 0 n) =
   1 - cexp (INR n * x, INR n * y)%R)%C.
Proof.
  induction n as [|n IH].
  - cbn [seq csum INR]; rewrite 2!Rmult_0_l; change (0, 0) with (RtoC 0).
    rewrite cexp_0; ring.
  - rewrite seq_S, csum_app, Cmult_plus_distr_l, IH; cbn [csum Nat.add].
    rewrite S_INR.
    replace ((INR n + 1) * x, (INR n + 1) * y)
      with ((INR n * x, INR n * y)%R + (x, y))%C
      by (unfold Cplus; cbn [fst snd]; f_equal; ring).
    rewrite cexp_plus; ring.
Qed.

Section Waves.
Variable N : nat.
Hypothesis HN : (0 < N)%nat.

Lemma N_pos : 0 < INR N.
Proof. apply lt_0_INR, HN. Qed.

Lemma wave_not_1 t d : (d <> 0)%Z -> (Z.abs d < Z.of_nat N)%Z ->
  cexp (0, 2 * PI * IZR (Z.of_nat N * t + d) / INR N) <> RtoC 1.
Proof.
  intros Hd Hb E; pose proof N_pos as NP.
  replace (0, 2 * PI * IZR (Z.of_nat N * t + d) / INR N)
    with ((0, 2 * PI * IZR t)%R + (0, 2 * (PI * (IZR d / INR N)))%R)%C in E.
  2: { unfold Cplus; cbn [fst snd]; rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ.
       f_equal; [ring|field; lra]. }
  rewrite cexp_plus, cexp_turn, Cmult_1_l in E.
  apply (f_equal fst) in E; unfold cexp, RtoC in E; cbn [fst snd] in E.
  rewrite exp_0, Rmult_1_l, cos_2a_sin in E.
  set (x := IZR d / INR N) in *.
  assert (Hx : -1 < x < 1 /\ x <> 0). {
    assert (L : -1 * INR N < IZR d < 1 * INR N).
    { rewrite INR_IZR_INZ, <- 2!mult_IZR; split; apply IZR_lt; lia. }
    unfold x; repeat split.
    - apply (Rmult_lt_reg_r (INR N)); [exact NP|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
    - apply (Rmult_lt_reg_r (INR N)); [exact NP|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
    - intro Z; apply Hd, eq_IZR.
      apply (Rmult_eq_reg_r (/ INR N)); [|apply Rinv_neq_0_compat; lra].
      unfold Rdiv in Z; lra. }
  pose proof PI_RGT_0.
  assert (S : sin (PI * x) = 0) by nra.
  destruct (Rlt_le_dec 0 x) as [P|P].
  - assert (0 < sin (PI * x)) by (apply sin_gt_0; nra); lra.
  - assert (0 < sin (- (PI * x))) by (apply sin_gt_0; nra).
    rewrite sin_neg in *; lra.
Qed.

(* The frequencies see a loss modulo N steps of the lattice. *)
Lemma wave t d : (Z.abs d < Z.of_nat N)%Z ->
  csum (fun k => cexp (0, 2 * PI * INR k * IZR (Z.of_nat N * t + d) / INR N)) (seq 0 N) =
  if Z.eq_dec d 0 then RtoC (INR N) else RtoC 0.
Proof.
  intro Hb; pose proof N_pos as NP; destruct (Z.eq_dec d 0) as [->|Hd].
  - transitivity (csum (fun _ => RtoC 1) (seq 0 N)).
    + apply csum_ext; intros k _; rewrite <- (cexp_turn (Z.of_nat k * t)); do 2 f_equal.
      rewrite Z.add_0_r, 2!mult_IZR, <- 2!INR_IZR_INZ; field; lra.
    + rewrite (csum_real (fun _ => 1)); f_equal; generalize 0%nat; clear.
      induction N as [|n IH]; intro s; [reflexivity|]; cbn [seq sum].
      rewrite IH, S_INR; ring.
  - pose proof (csum_geometric 0 (2 * PI * IZR (Z.of_nat N * t + d) / INR N) N) as G.
    replace (INR N * 0, INR N * (2 * PI * IZR (Z.of_nat N * t + d) / INR N))
      with (0, 2 * PI * IZR (Z.of_nat N * t + d)) in G
      by (f_equal; [ring|field; lra]).
    rewrite cexp_turn in G.
    rewrite (csum_ext _ (fun k =>
      cexp (0, 2 * PI * INR k * IZR (Z.of_nat N * t + d) / INR N))) in G
      by (intros k _; do 2 f_equal; [ring|field; lra]).
    pose proof (wave_not_1 t d Hd Hb) as W.
    set (S := csum _ _) in *; set (z := cexp _) in G, W.
    assert (Z : (1 - z <> 0)%C) by (intro E; apply W; replace z with (1 - (1 - z))%C by ring; rewrite E; ring).
    replace S with ((1 - z) * S / (1 - z))%C by (field; exact Z).
    rewrite G; field; exact Z.
Qed.

Lemma csum_pick (f : nat -> C) n i : (i < n)%nat ->
  (forall k, k <> i -> f k = RtoC 0) -> csum f (seq 0 n) = f i.
Proof.
  intros Hi Z; induction n as [|n IH]; [lia|].
  rewrite seq_S, csum_app; cbn [csum Nat.add].
  destruct (Nat.eq_dec i n) as [<-|Hne].
  - transitivity (csum (fun _ => RtoC 0) (seq 0 i) + (f i + 0))%C.
    + f_equal; apply csum_ext; intros k Hk; apply in_seq in Hk; apply Z; lia.
    + rewrite csum_zero; ring.
  - rewrite IH by lia; rewrite (Z n) by lia; ring.
Qed.

(* One half of the kernel, at a loss of n = N t + r steps. *)
Lemma half_fold x t r : x <> 0 -> (r < N)%nat ->
  let n := IZR (Z.of_nat N * t + Z.of_nat r) in
  csum (fun k => cexp (n * x, n * (2 * PI * INR k / INR N))%R /
                 (1 - cexp (- x, - (2 * PI * INR k / INR N))%R))%C (seq 0 N) =
  RtoC (INR N * exp (INR N * x * IZR t) / (1 - exp (- (INR N * x)))).
Proof.
  intros Hx Hr n; pose proof N_pos as NP.
  set (D := RtoC (1 - exp (- (INR N * x)))).
  assert (HD : D <> RtoC 0). {
    apply RtoC_neq; intro E; assert (E' : exp (- (INR N * x)) = exp 0) by (rewrite exp_0; lra).
    apply exp_inv in E'; apply Hx, (Rmult_eq_reg_l (INR N)); lra. }
  transitivity (csum (fun k => csum (fun m => / D * (
    RtoC (exp ((n - INR m) * x)) *
    cexp (0, 2 * PI * INR k * IZR (Z.of_nat N * t + (Z.of_nat r - Z.of_nat m)) / INR N)%R))%C
    (seq 0 N)) (seq 0 N)).
  - apply csum_ext; intros k _; set (y := 2 * PI * INR k / INR N).
    pose proof (csum_geometric (- x) (- y) N) as G.
    replace (INR N * - x, INR N * - y)
      with (RtoC (- (INR N * x)) + (0, 2 * PI * IZR (- Z.of_nat k))%R)%C in G.
    2: { unfold Cplus, RtoC; cbn [fst snd]; rewrite opp_IZR, <- INR_IZR_INZ; unfold y.
         f_equal; [ring|field; lra]. }
    rewrite cexp_plus, cexp_turn, cexp_real, Cmult_1_r, <- RtoC_minus in G; fold D in G.
    pose proof (cexp_not_1 (- x) (- y) ltac:(lra)) as Z.
    set (z := cexp (- x, - y)) in *.
    transitivity (/ D * (cexp (n * x, n * y)%R *
      csum (fun m => cexp (INR m * - x, INR m * - y)%R) (seq 0 N)))%C.
    + set (S := csum _ _) in *.
      assert (S <> RtoC 0) by (intro E; apply HD; rewrite <- G, E; ring).
      rewrite <- G; field; auto.
    + rewrite csum_scal, <- csum_scal; f_equal; apply csum_ext; intros m _.
      rewrite <- cexp_real, <- 2!cexp_plus; f_equal; unfold Cplus, RtoC; cbn [fst snd].
      unfold y, n; rewrite 2!plus_IZR, minus_IZR, <- !INR_IZR_INZ.
      f_equal; [ring|field; lra].
  - rewrite csum_swap.
    transitivity (csum (fun m => / D * (RtoC (exp ((n - INR m) * x)) *
      (if Z.eq_dec (Z.of_nat r - Z.of_nat m) 0 then RtoC (INR N) else RtoC 0)))%C (seq 0 N)).
    + apply csum_ext; intros m Hm; apply in_seq in Hm.
      rewrite 2!csum_scal, wave by lia; reflexivity.
    + rewrite (csum_pick _ N r Hr).
      * destruct (Z.eq_dec _ _) as [_|E]; [|lia].
        unfold Rdiv; rewrite RtoC_mult, RtoC_inv.
        2: { intro E; apply HD; unfold D; rewrite E; reflexivity. }
        fold D; rewrite RtoC_mult.
        replace ((n - INR r) * x) with (INR N * x * IZR t); [ring|].
        unfold n; rewrite plus_IZR, mult_IZR, <- !INR_IZR_INZ; ring.
      * intros m Hm; destruct (Z.eq_dec _ _) as [E|_]; [lia|ring].
Qed.
End Waves.

(* The three functions of the loss that the contour at theta can stand for. *)
Definition psi (theta v : R) : R :=
  if Rlt_dec 0 theta then pos (1 - exp (- v))
  else if Rlt_dec (-1) theta then - Rmin 1 (exp (- v))
  else pos (exp (- v) - 1).

Lemma exp_neq_1 x : x <> 0 -> 1 - exp x <> 0.
Proof.
  intros Hx E; apply Hx, exp_inv; rewrite exp_0; lra.
Qed.

Lemma geometric_flip x : x <> 0 -> exp x / (1 - exp x) = - / (1 - exp (- x)).
Proof.
  intro Hx; pose proof (exp_neq_1 x Hx); pose proof (exp_pos x).
  pose proof (exp_neq_1 (- x) ltac:(lra)) as N1; rewrite exp_Ropp in *.
  field; repeat split; try lra; intro E; apply H; lra.
Qed.

Lemma exp_below v : v <= 0 -> 1 <= exp (- v).
Proof.
  intro Hv; rewrite <- exp_0; destruct (Rle_lt_or_eq_dec _ _ Hv) as [L| ->].
  - left; apply exp_increasing; lra.
  - rewrite Ropp_0; lra.
Qed.

Lemma exp_above v : 0 <= v -> exp (- v) <= 1.
Proof.
  intro Hv; rewrite <- exp_0; destruct (Rle_lt_or_eq_dec _ _ Hv) as [L| <-].
  - left; apply exp_increasing; lra.
  - rewrite Ropp_0; lra.
Qed.

(* What one atom of loss v = Lam Q + u adds to the sum over all aliases. *)
Lemma atom_aliases theta Lam Q u : theta <> 0 -> theta <> -1 -> 0 <= u < Lam ->
  zseries (fun m => exp (theta * (IZR m * Lam)) * psi theta (Lam * IZR Q + u - IZR m * Lam))
    (exp (theta * Lam * IZR Q) / (1 - exp (- (theta * Lam))) -
     exp (theta * Lam * IZR Q - u) / (1 - exp (- ((theta + 1) * Lam)))).
Proof.
  intros H0 H1 Hu.
  assert (B : forall i, 0 <= Lam * IZR Q + u - IZR (Q - Z.of_nat i) * Lam).
  { intro i; rewrite minus_IZR, <- INR_IZR_INZ; pose proof (pos_INR i).
    assert (0 <= INR i * Lam) by (apply Rmult_le_pos; lra); lra. }
  assert (A : forall i, Lam * IZR Q + u - IZR (Q + 1 + Z.of_nat i) * Lam <= 0).
  { intro i; rewrite 2!plus_IZR, <- INR_IZR_INZ; pose proof (pos_INR i).
    assert (0 <= INR i * Lam) by (apply Rmult_le_pos; lra); lra. }
  assert (S2 : forall (f : nat -> R) c x c' x', 0 < x -> 0 < x' ->
    (forall i, f i = c * exp (- (x * INR i)) + c' * exp (- (x' * INR i))) ->
    is_series f (c / (1 - exp (- x)) + c' / (1 - exp (- x')))).
  { intros f c x c' x' Hx Hx' E; eapply is_series_ext;
      [intro i; symmetry; apply E|apply series_plus; apply series_exp; assumption]. }
  assert (S1 : forall (f : nat -> R) c x, 0 < x ->
    (forall i, f i = c * exp (- (x * INR i))) -> is_series f (c / (1 - exp (- x)))).
  { intros f c x Hx E; eapply is_series_ext; [intro i; symmetry; apply E|apply series_exp; exact Hx]. }
  assert (S0 : forall f : nat -> R, (forall i, f i = 0) -> is_series f 0).
  { intros f E; eapply is_series_ext; [intro i; symmetry; apply E|apply series_zero]. }
  assert (M : forall c x y, x = y -> c * exp x = c * exp y) by (intros; subst; reflexivity).
  pose (e0 := exp (theta * Lam * IZR Q)); pose (e1 := exp (theta * Lam * IZR Q - u)).
  assert (X0 : theta * Lam <> 0) by (apply Rmult_integral_contrapositive; lra).
  assert (X1 : (theta + 1) * Lam <> 0) by (apply Rmult_integral_contrapositive; lra).
  pose proof (geometric_flip _ X0) as F0; pose proof (geometric_flip _ X1) as F1.
  pose proof (exp_neq_1 (- (theta * Lam)) ltac:(lra)) as N0.
  pose proof (exp_neq_1 (- ((theta + 1) * Lam)) ltac:(lra)) as N1.
  pose proof (exp_neq_1 _ X0) as M0; pose proof (exp_neq_1 _ X1) as M1.
  exists Q.
  unfold psi; destruct (Rlt_dec 0 theta) as [P|P]; [|destruct (Rlt_dec (-1) theta) as [P'|P']].
  - exists (e0 / (1 - exp (- (theta * Lam))) + - e1 / (1 - exp (- ((theta + 1) * Lam)))), 0.
    split; [|split; [|unfold e0, e1; field; auto]].
    + apply S2; try (apply Rmult_lt_0_compat; lra); intro i.
      specialize (B i); rewrite pos_id by (pose proof (exp_above _ B); lra).
      unfold e0, e1; rewrite Rmult_minus_distr_l, Rmult_1_r, Ropp_mult_distr_l_reverse, <- !exp_plus.
      rewrite minus_IZR, <- INR_IZR_INZ; unfold Rminus at 1; f_equal; [|f_equal]; f_equal; ring.
    + apply S0; intro i; specialize (A i); pose proof (exp_below _ A).
      rewrite pos_0 by lra; ring.
  - exists (- e1 / (1 - exp (- ((theta + 1) * Lam)))),
      (- (e0 * exp (theta * Lam)) / (1 - exp (- - (theta * Lam)))).
    split; [|split].
    + apply S1; [apply Rmult_lt_0_compat; lra|]; intro i.
      specialize (B i); rewrite Rmin_right by (apply exp_above, B).
      unfold e1; rewrite <- Ropp_mult_distr_r, Ropp_mult_distr_l_reverse, <- !exp_plus.
      rewrite minus_IZR, <- INR_IZR_INZ; do 2 f_equal; ring.
    + apply S1; [nra|]; intro i.
      specialize (A i); rewrite Rmin_left by (apply exp_below, A).
      unfold e0; rewrite Ropp_mult_distr_l_reverse, <- !exp_plus.
      rewrite 2!plus_IZR, <- INR_IZR_INZ, <- Ropp_mult_distr_r, Rmult_1_r.
      do 2 f_equal; ring.
    + fold e0 e1; rewrite Ropp_involutive; unfold Rdiv in *.
      replace (- (e0 * exp (theta * Lam)) * / (1 - exp (theta * Lam)))
        with (- e0 * (exp (theta * Lam) * / (1 - exp (theta * Lam)))) by ring.
      rewrite F0; ring.
  - exists 0, (- (e0 * exp (theta * Lam)) / (1 - exp (- - (theta * Lam))) +
      e1 * exp ((theta + 1) * Lam) / (1 - exp (- - ((theta + 1) * Lam)))).
    split; [|split].
    + apply S0; intro i; specialize (B i); pose proof (exp_above _ B).
      rewrite pos_0 by lra; ring.
    + apply S2; try nra; intro i.
      specialize (A i); rewrite pos_id by (pose proof (exp_below _ A); lra).
      unfold e0, e1; rewrite Rmult_minus_distr_l, Rmult_1_r, Ropp_mult_distr_l_reverse, <- !exp_plus.
      rewrite 2!plus_IZR, <- INR_IZR_INZ; unfold Rminus at 1; rewrite Rplus_comm.
      f_equal; [f_equal|]; f_equal; ring.
    + fold e0 e1; rewrite 2!Ropp_involutive; unfold Rdiv in *.
      replace (- (e0 * exp (theta * Lam)) * / (1 - exp (theta * Lam)))
        with (- e0 * (exp (theta * Lam) * / (1 - exp (theta * Lam)))) by ring.
      rewrite (Rmult_assoc e1), F0, F1; ring.
Qed.

(* The law of all runs: a mass and a whole number of steps for each atom, whose
   loss is a n + b. What is lost to an infinite loss is no part of it. *)
Section Law.
Variables (a b : R) (N : nat) (theta : R).
Hypotheses (Ha : 0 < a) (HN : (0 < N)%nat) (H0 : theta <> 0) (H1 : theta <> -1).

Definition loss (o : R * Z) : R := a * IZR (snd o) + b.

(* The transform E[e^(zL)]. *)
Definition M (law : list (R * Z)) (z : C) : C :=
  csum (fun o => RtoC (fst o) * cexp (RtoC (loss o) * z))%C law.

(* I_theta(eps) by the function of the loss that the contour integral is. *)
Definition Itheta (law : list (R * Z)) (eps : R) : R :=
  sum (fun o => fst o * psi theta (loss o - eps)) law.

Definition period : R := INR N * a.
Definition frequency (k : nat) : C := (theta, 2 * PI * INR k / period).

Definition kappa (z : C) (y : R) : C :=
  (RtoC a * (cexp (- (z * RtoC y)) / (1 - cexp (- (z * RtoC a))) -
             cexp (- ((z + 1) * RtoC y)) / (1 - cexp (- ((z + 1) * RtoC a)))))%C.

Lemma atom_kernel y n : 0 <= y < a -> let v := a * IZR n + y in
  csum (fun k => cexp (RtoC v * frequency k) * kappa (frequency k) y)%C (seq 0 N) =
  RtoC (period * (exp (theta * period * IZR (n / Z.of_nat N)) / (1 - exp (- (theta * period))) -
    exp (theta * period * IZR (n / Z.of_nat N) - (v - period * IZR (n / Z.of_nat N))) /
    (1 - exp (- ((theta + 1) * period))))).
Proof.
  intros Hy v; pose proof (N_pos N HN) as NP.
  set (Q := (n / Z.of_nat N)%Z).
  pose (r := Z.to_nat (n mod Z.of_nat N)).
  assert (Hr : (r < N)%nat /\ n = (Z.of_nat N * Q + Z.of_nat r)%Z). {
    pose proof (Z.mod_pos_bound n (Z.of_nat N) ltac:(lia)).
    pose proof (Z.div_mod n (Z.of_nat N) ltac:(lia)); unfold Q, r; lia. }
  destruct Hr as [Hr En].
  assert (X0 : theta * a <> 0) by (apply Rmult_integral_contrapositive; lra).
  assert (X1 : (theta + 1) * a <> 0) by (apply Rmult_integral_contrapositive; lra).
  pose proof (half_fold N HN (theta * a) Q r X0 Hr) as F0.
  pose proof (half_fold N HN ((theta + 1) * a) Q r X1 Hr) as F1.
  cbn zeta in F0, F1; rewrite <- En in F0, F1.
  transitivity (RtoC a * (csum (fun k : nat => cexp (IZR n * (theta * a), IZR n * (2 * PI * INR k / INR N))%R /
      (1 - cexp (- (theta * a), - (2 * PI * INR k / INR N))%R)) (seq 0 N) +
    RtoC (- exp (- v)) * csum (fun k : nat => cexp (IZR n * ((theta + 1) * a), IZR n * (2 * PI * INR k / INR N))%R /
      (1 - cexp (- ((theta + 1) * a), - (2 * PI * INR k / INR N))%R)) (seq 0 N)))%C.
  - rewrite <- csum_scal, <- csum_plus, <- csum_scal; apply csum_ext; intros k _.
    unfold kappa; set (w := 2 * PI * INR k / INR N); set (s := frequency k).
    assert (Ew : w = 2 * PI * INR k / period * a) by (unfold w, period; field; lra).
    assert (D0 : cexp (- (s * RtoC a))%C = cexp (- (theta * a), - w)).
    { rewrite Ew; f_equal; unfold s, frequency, Copp, Cmult, RtoC; cbn [fst snd]; f_equal; ring. }
    assert (D1 : cexp (- ((s + 1) * RtoC a))%C = cexp (- ((theta + 1) * a), - w)).
    { rewrite Ew; f_equal; unfold s, frequency, Copp, Cmult, Cplus, RtoC; cbn [fst snd]; f_equal; ring. }
    pose proof (cexp_not_1 (- (theta * a)) (- w) ltac:(lra)) as Z0.
    pose proof (cexp_not_1 (- ((theta + 1) * a)) (- w) ltac:(lra)) as Z1.
    assert (E0 : (cexp (RtoC v * s) * cexp (- (s * RtoC y)) =
      cexp (IZR n * (theta * a), IZR n * w)%R)%C).
    { rewrite <- cexp_plus, Ew; f_equal; unfold v, s, frequency, Copp, Cmult, Cplus, RtoC.
      cbn [fst snd]; f_equal; ring. }
    assert (E1 : (cexp (RtoC v * s) * cexp (- ((s + 1) * RtoC y)) =
      RtoC (exp (- v)) * cexp (IZR n * ((theta + 1) * a), IZR n * w)%R)%C).
    { rewrite <- cexp_real, <- 2!cexp_plus, Ew; f_equal.
      unfold v, s, frequency, Copp, Cmult, Cplus, RtoC; cbn [fst snd]; f_equal; ring. }
    rewrite D0, D1, RtoC_opp; rewrite <- E0.
    transitivity (RtoC a * (cexp (RtoC v * s) * cexp (- (s * RtoC y)) / (1 - cexp (- (theta * a), - w)%R) -
      cexp (RtoC v * s) * cexp (- ((s + 1) * RtoC y)) / (1 - cexp (- ((theta + 1) * a), - w)%R)))%C;
      [field; auto|].
    rewrite E1; field; auto.
  - rewrite F0, F1, <- RtoC_mult, <- RtoC_plus, <- RtoC_mult; f_equal.
    unfold period; pose proof (exp_neq_1 (- (theta * (INR N * a)))) as N0.
    replace (INR N * (theta * a)) with (theta * (INR N * a)) by ring.
    replace (INR N * ((theta + 1) * a)) with ((theta + 1) * (INR N * a)) by ring.
    replace (exp (theta * (INR N * a) * IZR Q - (v - INR N * a * IZR Q)))
      with (exp (- v) * exp ((theta + 1) * (INR N * a) * IZR Q))
      by (rewrite <- exp_plus; f_equal; ring).
    unfold Rdiv; ring.
Qed.

(* The folded kernel. *)
Theorem fold law eps c y : b - eps = a * IZR c + y -> 0 <= y < a ->
  exists S,
    zseries (fun m => exp (theta * (IZR m * period)) * Itheta law (eps + IZR m * period)) S /\
    RtoC S = (RtoC (/ period) * csum (fun k =>
      M law (frequency k) * cexp (- (RtoC eps * frequency k)) * kappa (frequency k) y) (seq 0 N))%C.
Proof.
  intros Hb Hy; pose proof (N_pos N HN) as NP.
  assert (PP : 0 < period) by (apply Rmult_lt_0_compat; assumption).
  pose (v := fun o : R * Z => a * IZR (snd o + c) + y).
  pose (Q := fun o : R * Z => ((snd o + c) / Z.of_nat N)%Z).
  pose (F := fun o => exp (theta * period * IZR (Q o)) / (1 - exp (- (theta * period))) -
    exp (theta * period * IZR (Q o) - (v o - period * IZR (Q o))) /
    (1 - exp (- ((theta + 1) * period)))).
  assert (Ev : forall o, loss o - eps = v o).
  { intro o; unfold v, loss; rewrite plus_IZR; lra. }
  exists (sum (fun o => fst o * F o) law); split.
  - apply zseries_ext with (fun m => sum (fun o => fst o *
      (exp (theta * (IZR m * period)) * psi theta (v o - IZR m * period))) law).
    { intro m; unfold Itheta; rewrite <- sum_scal; apply sum_ext; intros o _.
      rewrite <- Ev; replace (loss o - eps - IZR m * period) with (loss o - (eps + IZR m * period)) by ring.
      ring. }
    apply zseries_sum; intros o _; apply zseries_scal; unfold F.
    apply (zseries_ext (fun m => exp (theta * (IZR m * period)) *
      psi theta (period * IZR (Q o) + (v o - period * IZR (Q o)) - IZR m * period))).
    { intro m; do 2 f_equal; ring. }
    apply atom_aliases; [exact H0|exact H1|].
    pose proof (Z.mod_pos_bound (snd o + c) (Z.of_nat N) ltac:(lia)) as B.
    pose proof (Z.div_mod (snd o + c) (Z.of_nat N) ltac:(lia)) as E; fold (Q o) in E.
    unfold v, period; rewrite E, plus_IZR, mult_IZR, <- INR_IZR_INZ.
    set (r := ((snd o + c) mod Z.of_nat N)%Z) in *.
    assert (0 <= IZR r <= INR N - 1).
    { rewrite INR_IZR_INZ, <- minus_IZR; split; apply IZR_le; lia. }
    nra.
  - transitivity (RtoC (/ period) * csum (fun o => RtoC (fst o) * csum (fun k =>
      cexp (RtoC (v o) * frequency k) * kappa (frequency k) y) (seq 0 N)) law)%C.
    + rewrite <- csum_scal, <- csum_real; apply csum_ext; intros o _.
      unfold v; rewrite (atom_kernel y (snd o + c) Hy); fold (Q o) (v o); fold (F o).
      rewrite !RtoC_mult, RtoC_inv by lra.
      field; apply RtoC_neq; lra.
    + f_equal.
      transitivity (csum (fun o => csum (fun k => RtoC (fst o) *
        (cexp (RtoC (v o) * frequency k) * kappa (frequency k) y)) (seq 0 N)) law)%C.
      { apply csum_ext; intros o _; symmetry; apply csum_scal. }
      rewrite csum_swap; apply csum_ext; intros k _; unfold M.
      rewrite (Cmult_comm (csum _ _)), <- Cmult_assoc, (Cmult_comm (csum _ _)), Cmult_assoc.
      rewrite <- csum_scal; apply csum_ext; intros o _.
      rewrite <- Ev; replace (RtoC (loss o - eps) * frequency k)%C
        with (RtoC (loss o) * frequency k + - (RtoC eps * frequency k))%C
        by (rewrite RtoC_minus; ring).
      rewrite cexp_plus; ring.
Qed.

(* The form without cancellation. *)
Theorem kappa_stable z y : (1 - cexp (- (z * RtoC a)) <> 0)%C ->
  (1 - cexp (- ((z + 1) * RtoC a)) <> 0)%C ->
  kappa z y = (RtoC a * cexp (- (z * RtoC y)) *
    (RtoC (1 - exp (- y)) + RtoC (exp (- y) * (1 - exp (- (a - y)))) * cexp (- (z * RtoC a))) /
    ((1 - cexp (- (z * RtoC a))) * (1 - cexp (- ((z + 1) * RtoC a)))))%C.
Proof.
  intros Z0 Z1; unfold kappa.
  assert (E : forall x, cexp (- ((z + 1) * RtoC x))%C = (cexp (- (z * RtoC x)) * RtoC (exp (- x)))%C).
  { intro x; rewrite <- cexp_real, <- cexp_plus; f_equal; rewrite RtoC_opp; ring. }
  rewrite 2!E in *.
  rewrite RtoC_minus, RtoC_mult, RtoC_minus.
  replace (exp (- a)) with (exp (- y) * exp (- (a - y))) in *
    by (rewrite <- exp_plus; f_equal; ring).
  rewrite RtoC_mult in *; field; auto.
Qed.

(* delta, without the infinite loss, from I_theta: by itself for theta > 0 only. *)
Definition delta (law : list (R * Z)) (eps : R) : R :=
  sum (fun o => fst o * pos (1 - exp (- (loss o - eps)))) law.

Theorem delta_of_I law eps :
  let m0 := sum fst law in
  let m1 := sum (fun o => fst o * exp (- loss o)) law in
  delta law eps =
    if Rlt_dec 0 theta then Itheta law eps
    else if Rlt_dec (-1) theta then m0 + Itheta law eps
    else m0 - exp eps * m1 + Itheta law eps.
Proof.
  intros m0 m1; unfold delta, Itheta, psi.
  destruct (Rlt_dec 0 theta); [reflexivity|].
  destruct (Rlt_dec (-1) theta); unfold m0, m1.
  - rewrite <- sum_plus; apply sum_ext; intros o _.
    set (e := exp _); destruct (Rle_lt_dec e 1).
    + rewrite pos_id, Rmin_right by lra; ring.
    + rewrite pos_0, Rmin_left by lra; ring.
  - replace (sum fst law - exp eps * sum (fun o => fst o * exp (- loss o)) law)
      with (sum fst law + - exp eps * sum (fun o => fst o * exp (- loss o)) law) by ring.
    rewrite <- sum_scal, <- 2!sum_plus; apply sum_ext; intros o _.
    replace (- (loss o - eps)) with (eps + - loss o) by ring; rewrite exp_plus.
    set (e := exp eps * exp (- loss o)).
    replace (- exp eps * (fst o * exp (- loss o))) with (- (fst o * e)) by (unfold e; ring).
    destruct (Rle_lt_dec e 1).
    + rewrite pos_id, pos_0 by lra; ring.
    + rewrite pos_0, pos_id by lra; ring.
Qed.
End Law.

(* Runs on one lattice may have offsets of their own: transforms multiply, and
   the offsets add. *)
Definition conv (l l' : list (R * Z)) : list (R * Z) :=
  flat_map (fun o => map (fun o' => (fst o * fst o', (snd o + snd o')%Z)) l') l.

Theorem transforms_multiply a b b' l l' z :
  (M a (b + b') (conv l l') z = M a b l z * M a b' l' z)%C.
Proof.
  unfold M, conv; rewrite csum_flat_map, Cmult_comm, <- csum_scal.
  apply csum_ext; intros o _; rewrite csum_map, (Cmult_comm (csum _ _)), <- csum_scal.
  apply csum_ext; intros o' _; unfold loss; cbn [fst snd].
  replace (RtoC (a * IZR (snd o + snd o') + (b + b')) * z)%C
    with (RtoC (a * IZR (snd o) + b) * z + RtoC (a * IZR (snd o') + b') * z)%C
    by (rewrite plus_IZR; unfold Cplus, Cmult, RtoC; cbn [fst snd]; f_equal; ring).
  rewrite cexp_plus, RtoC_mult; ring.
Qed.

(* At theta = -1/2 one atom of loss 0 has I = -1 at eps = 0, where delta is 0. *)
Example I_is_not_delta : Itheta 1 0 (-1 / 2) [(1, 0%Z)] 0 = -1 /\ delta 1 0 [(1, 0%Z)] 0 = 0.
Proof.
  unfold Itheta, delta, psi, loss; cbn [sum fst snd].
  replace (1 * IZR 0 + 0 - 0) with 0 by ring; rewrite Ropp_0, exp_0.
  destruct (Rlt_dec 0 (-1 / 2)); [lra|]; destruct (Rlt_dec (-1) (-1 / 2)); [|lra].
  rewrite Rmin_left, pos_0 by lra; lra.
Qed.
