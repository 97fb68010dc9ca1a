(* Finite laws, their profiles, and domination under composition.

   A pair of laws on finitely many outputs is a list of (p, q): the mass of
   one output under each of two neighbouring data sets.  Its profile is
   H(t) = sum of (p - t q)+ over outputs, for t = e^epsilon >= 0. *)

From Coq Require Import Reals Lra List.
Import ListNotations.
Open Scope R_scope.

Definition pos (x : R) : R := Rmax x 0.

Lemma pos_ge0 x : 0 <= pos x.
Proof. apply Rmax_r. Qed.

Lemma pos_ge x : x <= pos x.
Proof. apply Rmax_l. Qed.

Lemma pos_id x : 0 <= x -> pos x = x.
Proof. intro; unfold pos; apply Rmax_left; lra. Qed.

Lemma pos_0 x : x <= 0 -> pos x = 0.
Proof. intro; unfold pos; apply Rmax_right; lra. Qed.

Lemma pos_scale c x : 0 <= c -> pos (c * x) = c * pos x.
Proof.
  intro Hc; unfold pos; rewrite <- RmaxRmult by exact Hc; f_equal; ring.
Qed.

Lemma pos_convex l x y :
  0 <= l <= 1 -> pos (l * x + (1 - l) * y) <= l * pos x + (1 - l) * pos y.
Proof.
  intros [H0 H1]; unfold pos at 1; apply Rmax_lub.
  - apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply pos_ge.
  - apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply pos_ge0.
Qed.

Lemma pos_mono x y : x <= y -> pos x <= pos y.
Proof. intro; unfold pos; apply Rle_max_compat_r; lra. Qed.

(* Sums over lists. *)

Fixpoint sum {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: l' => f x + sum f l'
  end.

Section Sums.
Context {A : Type}.
Implicit Types (f g : A -> R) (l : list A).

Lemma sum_ext f g l : (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof.
  induction l as [|a l IH]; simpl; intro H; [reflexivity|].
  rewrite H by (left; reflexivity); f_equal; apply IH; intros; apply H; auto.
Qed.

Lemma sum_le f g l : (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  induction l as [|a l IH]; simpl; intro H; [lra|].
  apply Rplus_le_compat; [apply H; auto | apply IH; intros; apply H; auto].
Qed.

Lemma sum_plus f g l : sum (fun x => f x + g x) l = sum f l + sum g l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_scal c f l : sum (fun x => c * f x) l = c * sum f l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_zero l : sum (fun _ => 0) l = 0.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_ge0 f l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. intro H; rewrite <- (sum_zero l); apply sum_le; exact H. Qed.

Lemma sum_app f l l' : sum f (l ++ l') = sum f l + sum f l'.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; ring. Qed.
End Sums.

Lemma sum_map {A B : Type} (g : A -> B) (f : B -> R) l :
  sum f (map g l) = sum (fun x => f (g x)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma sum_flat_map {A B : Type} (g : A -> list B) (f : B -> R) l :
  sum f (flat_map g l) = sum (fun x => sum f (g x)) l.
Proof. induction l as [|a l IH]; simpl; [|rewrite sum_app, IH]; reflexivity. Qed.

Lemma sum_swap {A B : Type} (f : A -> B -> R) l l' :
  sum (fun x => sum (f x) l') l = sum (fun y => sum (fun x => f x y) l) l'.
Proof.
  induction l as [|a l IH]; simpl; [symmetry; apply sum_zero|].
  rewrite sum_plus, IH; reflexivity.
Qed.

(* Pairs and profiles. *)

Definition pair := list (R * R).

Record law (A : pair) : Prop := {
  law_p : forall o, In o A -> 0 <= fst o;
  law_q : forall o, In o A -> 0 <= snd o;
  law_P : sum fst A = 1;
  law_Q : sum snd A = 1
}.

Definition H (A : pair) (t : R) : R := sum (fun o => pos (fst o - t * snd o)) A.

(* A is dominated by B: the profile of A is nowhere above that of B. All
   t > 0 count, and not only t >= 1: a pair that is right for epsilon >= 0
   alone would not do. *)
Definition dominated (A B : pair) : Prop := forall t, 0 < t -> H A t <= H B t.

Record profile (r : R -> R) : Prop := {
  profile_0 : r 0 = 1;
  profile_dec : forall s t, 0 <= s <= t -> r t <= r s;
  profile_convex : forall l s t, 0 <= l <= 1 -> 0 <= s -> 0 <= t ->
    r (l * s + (1 - l) * t) <= l * r s + (1 - l) * r t;
  profile_low : forall t, 0 <= t -> pos (1 - t) <= r t
}.

Lemma H_0 A : law A -> H A 0 = 1.
Proof.
  intros [Hp Hq HP HQ]; unfold H; rewrite <- HP; apply sum_ext; intros o Ho.
  rewrite Rmult_0_l, Rminus_0_r; apply pos_id; auto.
Qed.

Lemma H_profile A : law A -> profile (H A).
Proof.
  intro L; pose proof L as [Hp Hq HP HQ]; split.
  - apply H_0; exact L.
  - intros s t Hst; apply sum_le; intros o Ho; apply pos_mono.
    apply Rplus_le_compat_l, Ropp_le_contravar, Rmult_le_compat_r; [auto|lra].
  - intros l s t Hl Hs Ht; unfold H.
    rewrite <- 2!sum_scal, <- sum_plus; apply sum_le; intros o Ho.
    replace (fst o - (l * s + (1 - l) * t) * snd o)
      with (l * (fst o - s * snd o) + (1 - l) * (fst o - t * snd o)) by ring.
    apply pos_convex; exact Hl.
  - intros t Ht; unfold pos at 1; apply Rmax_lub.
    + rewrite <- HP; replace (sum fst A - t) with (sum fst A + (-t) * sum snd A)
        by (rewrite HQ; ring).
      rewrite <- sum_scal, <- sum_plus; apply sum_le; intros o Ho.
      eapply Rle_trans; [|apply pos_ge]; lra.
    + apply sum_ge0; intros; apply pos_ge0.
Qed.

(* star r A is the profile of a mechanism with the pair A followed by one with
   the profile r: E_P[r(t / R)] with R = p/q, and r(0) = 1 where q = 0. An
   output with p = 0 counts nothing. *)
Definition star (r : R -> R) (A : pair) (t : R) : R :=
  sum (fun o => fst o * r (t * snd o / fst o)) A.

Lemma quot_ge0 t p q : 0 <= t -> 0 <= p -> 0 <= q -> 0 <= t * q / p.
Proof.
  intros Ht Hp Hq; destruct (Rle_lt_or_eq_dec _ _ Hp) as [Hp'|<-].
  - apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra].
  - unfold Rdiv; rewrite Rinv_0; lra.
Qed.

Lemma star_le r r' A t : law A -> 0 <= t ->
  (forall s, 0 <= s -> r s <= r' s) -> star r A t <= star r' A t.
Proof.
  intros [Hp Hq HP HQ] Ht Hr; apply sum_le; intros o Ho.
  apply Rmult_le_compat_l; [auto|]; apply Hr, quot_ge0; auto.
Qed.

Lemma star_profile r A : profile r -> law A -> profile (star r A).
Proof.
  intros [R0 Rd Rc Rl] [Hp Hq HP HQ]; split.
  - unfold star; rewrite <- HP; apply sum_ext; intros o Ho.
    replace (0 * snd o / fst o) with 0 by (unfold Rdiv; ring).
    rewrite R0; ring.
  - intros s t Hst; apply sum_le; intros o Ho.
    apply Rmult_le_compat_l; [auto|]; apply Rd; split.
    + apply quot_ge0; auto; lra.
    + destruct (Rle_lt_or_eq_dec _ _ (Hp o Ho)) as [H1|H1].
      * apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact H1|].
        apply Rmult_le_compat_r; auto; lra.
      * rewrite <- H1; unfold Rdiv; rewrite Rinv_0; lra.
  - intros l s t Hl Hs Ht; unfold star.
    rewrite <- 2!sum_scal, <- sum_plus; apply sum_le; intros o Ho.
    replace ((l * s + (1 - l) * t) * snd o / fst o)
      with (l * (s * snd o / fst o) + (1 - l) * (t * snd o / fst o))
      by (unfold Rdiv; ring).
    replace (l * (fst o * r (s * snd o / fst o)) +
             (1 - l) * (fst o * r (t * snd o / fst o)))
      with (fst o * (l * r (s * snd o / fst o) + (1 - l) * r (t * snd o / fst o)))
      by ring.
    apply Rmult_le_compat_l; [auto|]; apply Rc; auto; apply quot_ge0; auto.
  - intros t Ht; unfold pos at 1; apply Rmax_lub.
    + rewrite <- HP; replace (sum fst A - t) with (sum fst A + (-t) * sum snd A)
        by (rewrite HQ; ring).
      rewrite <- sum_scal, <- sum_plus; apply sum_le; intros o Ho.
      destruct (Rle_lt_or_eq_dec _ _ (Hp o Ho)) as [H1|H1].
      * replace (fst o + - t * snd o) with (fst o * (1 - t * snd o / fst o))
          by (field; lra).
        apply Rmult_le_compat_l; [lra|].
        eapply Rle_trans; [apply pos_ge|apply Rl, quot_ge0; auto].
      * rewrite <- H1, Rmult_0_l.
        assert (0 <= t * snd o) by (apply Rmult_le_pos; auto); lra.
    + apply sum_ge0; intros o Ho; apply Rmult_le_pos; [auto|].
      eapply Rle_trans; [apply pos_ge0|apply Rl, quot_ge0; auto].
Qed.

(* A convex, non-increasing function is met at given points, and nowhere
   passed, by a constant and a sum of hinges m (c - t)+ with m, c >= 0. *)

Definition hinges (k : R) (l : list (R * R)) (t : R) : R :=
  k + sum (fun h => fst h * pos (snd h - t)) l.

Fixpoint insert (x : R) (l : list R) : list R :=
  match l with
  | [] => [x]
  | y :: l' => if Rle_dec x y then x :: l else y :: insert x l'
  end.

Fixpoint sort (l : list R) : list R :=
  match l with
  | [] => []
  | x :: l' => insert x (sort l')
  end.

Fixpoint ascending (l : list R) : Prop :=
  match l with
  | [] => True
  | x :: l' => (forall y, In y l' -> x <= y) /\ ascending l'
  end.

Lemma insert_in x y l : In y (insert x l) <-> x = y \/ In y l.
Proof.
  induction l as [|a l IH]; simpl; [tauto|].
  destruct (Rle_dec x a); simpl; [tauto|]; rewrite IH; tauto.
Qed.

Lemma sort_in y l : In y (sort l) <-> In y l.
Proof. induction l as [|a l IH]; simpl; [tauto|]; rewrite insert_in, IH; tauto. Qed.

Lemma insert_ascending x l : ascending l -> ascending (insert x l).
Proof.
  induction l as [|a l IH]; simpl; [tauto|]; intros [Ha Hl].
  destruct (Rle_dec x a) as [Hx|Hx]; simpl.
  - split; [|tauto]; intros y [<-|Hy]; [lra|]; apply Ha in Hy; lra.
  - split; [|tauto]; intros y Hy; apply insert_in in Hy; destruct Hy as [<-|Hy]; [lra|auto].
Qed.

Lemma sort_ascending l : ascending (sort l).
Proof. induction l as [|a l IH]; simpl; [exact I|]; apply insert_ascending, IH. Qed.

Lemma hd_0 l : ascending l -> In 0 l -> (forall x, In x l -> 0 <= x) -> hd 0 l = 0.
Proof.
  destruct l as [|x l]; simpl; [reflexivity|]; intros [Hx _] [->|H0] Hge; [reflexivity|].
  apply Rle_antisym; auto.
Qed.

(* The line through two points of a convex function is above it between
   them, and not above it on the left of both. *)
Lemma chord_between r a b t : profile r -> 0 <= a < b -> a <= t <= b ->
  r t <= r b + (r a - r b) / (b - a) * (b - t).
Proof.
  intros [_ _ Rc _] Hab Ht.
  set (l := (b - t) / (b - a)).
  assert (Hl : 0 <= l <= 1). {
    unfold l; split.
    - apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
    - apply (Rmult_le_reg_r (b - a)); [lra|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  assert (E : t = l * a + (1 - l) * b) by (unfold l; field; lra).
  rewrite E at 1; eapply Rle_trans; [apply Rc; lra|].
  apply Req_le; unfold l; field; lra.
Qed.

Lemma chord_left r a b t : profile r -> 0 <= t <= a -> a < b ->
  r b + (r a - r b) / (b - a) * (b - t) <= r t.
Proof.
  intros Pr Ht Hab.
  destruct (Req_dec t a) as [->|Hne].
  - apply Req_le; field; lra.
  - pose proof (chord_between r t b a Pr ltac:(lra) ltac:(lra)) as C.
    apply (Rmult_le_reg_r (b - a)); [lra|].
    apply (Rmult_le_compat_r (b - t)) in C; [|lra].
    replace ((r b + (r t - r b) / (b - t) * (b - a)) * (b - t))
      with (r b * (b - t) + (r t - r b) * (b - a)) in C by (field; lra).
    replace ((r b + (r a - r b) / (b - a) * (b - t)) * (b - a))
      with (r b * (b - a) + (r a - r b) * (b - t)) by (field; lra).
    nra.
Qed.

Lemma hinges_exist r pts : profile r -> ascending pts -> pts <> [] ->
  (forall x, In x pts -> 0 <= x) ->
  exists k l s,
    (forall h, In h l -> 0 <= fst h /\ 0 <= snd h) /\ 0 <= s /\
    let x := hd 0 pts in
    let g := hinges k l in
    (forall t, t <= x -> g t = r x + s * (x - t)) /\
    (forall t, x <= t -> r t <= g t) /\
    (forall t, 0 <= t <= x -> g t <= r t) /\
    (forall t, In t pts -> g t = r t).
Proof.
  intro Pr; induction pts as [|a pts IH]; [congruence|].
  intros [Ha Hs] _ Hge.
  destruct pts as [|b pts].
  - exists (r a), [], 0; unfold hinges; cbn [sum hd].
    assert (0 <= a) by (apply Hge; left; reflexivity).
    split; [contradiction|]; split; [lra|]; cbn zeta; repeat split.
    + intros t Ht; ring.
    + intros t Ht; ring_simplify; apply (profile_dec r Pr); lra.
    + intros t Ht; ring_simplify; apply (profile_dec r Pr); lra.
    + intros t [<-|[]]; ring.
  - destruct IH as (k & l & s & Hl & Hs0 & E1 & E2 & E3 & E4);
      [exact Hs|congruence|intros; apply Hge; right; assumption|].
    cbn [hd] in *.
    assert (Hab : a <= b) by (apply Ha; left; reflexivity).
    assert (Ha0 : 0 <= a) by (apply Hge; left; reflexivity).
    destruct (Rle_lt_or_eq_dec _ _ Hab) as [Hlt|<-].
    2: { exists k, l, s; repeat (split; [assumption|]).
         intros t [<-|Ht]; [apply E4; left; reflexivity|auto]. }
    pose (m := (r a - hinges k l a) / (b - a)).
    assert (Hm : 0 <= m). {
      apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
      specialize (E3 a ltac:(lra)); lra. }
    pose (s' := (r a - r b) / (b - a)).
    assert (Hs' : s' = s + m) by (unfold s', m; rewrite E1 by lra; field; lra).
    assert (G1 : forall t, t <= b -> hinges k ((m, b) :: l) t = r b + s' * (b - t)). {
      intros t Ht; rewrite Hs'; specialize (E1 t Ht); unfold hinges in *; cbn [sum fst snd].
      rewrite pos_id by lra; lra. }
    assert (G2 : forall t, b <= t -> hinges k ((m, b) :: l) t = hinges k l t). {
      intros t Ht; unfold hinges; cbn [sum fst snd]; rewrite pos_0 by lra; ring. }
    exists k, ((m, b) :: l), s'; cbn zeta.
    split; [intros h [<-|Hh]; [cbn; lra|auto]|].
    split; [lra|].
    split; [|split; [|split]].
    + intros t Ht; rewrite G1 by lra; unfold s'; field; lra.
    + intros t Ht; destruct (Rle_dec t b) as [Htb|Htb].
      * rewrite G1 by lra; apply chord_between; auto; lra.
      * rewrite G2 by lra; apply E2; lra.
    + intros t Ht; rewrite G1 by lra; apply chord_left; auto; lra.
    + intros t Ht.
      destruct Ht as [<-|Ht]; [rewrite G1 by lra; unfold s'; field; lra|].
      rewrite <- (E4 t Ht); destruct Ht as [<-|Ht]; [apply G2; lra|].
      apply G2; simpl in Hs; destruct Hs as [Hb _]; auto.
Qed.

(* What a hinge counts is a value of the profile of the pair. *)
Lemma star_hinge A c t : law A -> 0 < c -> 0 <= t ->
  star (fun x => pos (c - x)) A t = c * H A (t / c).
Proof.
  intros [Hp Hq HP HQ] Hc Ht; unfold star, H; rewrite <- sum_scal.
  apply sum_ext; intros o Ho; rewrite <- 2!pos_scale by (auto; lra).
  destruct (Req_dec (fst o) 0) as [Z|Z].
  - rewrite Z, Rmult_0_l, pos_0 by lra; symmetry; apply pos_0.
    replace (c * (0 - t / c * snd o)) with (- (t * snd o)) by (field; lra).
    assert (0 <= t * snd o) by (apply Rmult_le_pos; auto); lra.
  - f_equal; field; lra.
Qed.

Lemma star_hinge_0 A t : law A -> 0 <= t -> star (fun x => pos (0 - x)) A t = 0.
Proof.
  intros [Hp Hq _ _] Ht.
  apply eq_trans with (2 := sum_zero A), sum_ext; intros o Ho.
  pose proof (quot_ge0 t (fst o) (snd o) Ht (Hp o Ho) (Hq o Ho)).
  rewrite pos_0 by lra; ring.
Qed.

(* The step that all rests on: for finite laws, a dominated pair before any
   profile counts no more than the pair that dominates it. *)
Theorem star_dominated r A B t : profile r -> law A -> law B ->
  dominated A B -> 0 <= t -> star r A t <= star r B t.
Proof.
  intros Pr LA LB D Ht.
  pose (pts := sort (0 :: map (fun o => t * snd o / fst o) B)).
  assert (Hge : forall x, In x pts -> 0 <= x). {
    intros x Hx; apply (proj1 (sort_in _ _)) in Hx; destruct Hx as [<-|Hx]; [lra|].
    apply in_map_iff in Hx; destruct Hx as (o & <- & Ho).
    apply quot_ge0; [lra|apply (law_p B LB)|apply (law_q B LB)]; auto. }
  assert (H0 : In 0 pts) by (apply (proj2 (sort_in _ _)); left; reflexivity).
  assert (Hne : pts <> []) by (intro E; rewrite E in H0; destruct H0).
  assert (Hhd : hd 0 pts = 0) by (apply hd_0; auto; apply sort_ascending).
  destruct (hinges_exist r pts Pr (sort_ascending _) Hne Hge)
    as (k & l & s & Hl & _ & _ & Above & _ & Meets).
  rewrite Hhd in Above.
  apply Rle_trans with (star (hinges k l) A t); [apply star_le; auto|].
  apply Rle_trans with (star (hinges k l) B t).
  2: { apply Req_le, sum_ext; intros o Ho; rewrite Meets; [reflexivity|].
       apply (proj2 (sort_in _ _)); right; apply in_map_iff; exists o; auto. }
  assert (E : forall C, law C -> star (hinges k l) C t =
    k + sum (fun h => fst h * star (fun x => pos (snd h - x)) C t) l). {
    intros C LC; unfold star, hinges.
    transitivity (sum (fun o => k * fst o) C + sum (fun h => fst h *
      sum (fun o => fst o * pos (snd h - t * snd o / fst o)) C) l).
    2: rewrite sum_scal, (law_P C LC); lra.
    rewrite (sum_ext (fun h => fst h * sum _ C)
      (fun h => sum (fun o => fst h * (fst o * pos (snd h - t * snd o / fst o))) C))
      by (intros; symmetry; apply sum_scal).
    rewrite sum_swap, <- sum_plus; apply sum_ext; intros o Ho.
    rewrite Rmult_plus_distr_l, <- sum_scal.
    f_equal; [ring|]; apply sum_ext; intros; ring. }
  rewrite (E A LA), (E B LB); apply Rplus_le_compat_l, sum_le; intros h Hh.
  destruct (Hl h Hh) as [Hm Hc]; apply Rmult_le_compat_l; [exact Hm|].
  destruct (Rle_lt_or_eq_dec _ _ Hc) as [Hc'|<-].
  - rewrite (star_hinge A _ t LA Hc' Ht), (star_hinge B _ t LB Hc' Ht).
    apply Rmult_le_compat_l; [exact Hc|].
    destruct (Rle_lt_or_eq_dec _ _ Ht) as [Ht'|<-].
    + apply D, Rmult_lt_0_compat; [exact Ht'|apply Rinv_0_lt_compat, Hc'].
    + unfold Rdiv; rewrite Rmult_0_l, (H_0 A LA), (H_0 B LB); lra.
  - rewrite (star_hinge_0 A t LA Ht), (star_hinge_0 B t LB Ht); lra.
Qed.

(* Composition. *)

Definition prod (A B : pair) : pair :=
  flat_map (fun a => map (fun b => (fst a * fst b, snd a * snd b)) B) A.

Lemma prod_law A B : law A -> law B -> law (prod A B).
Proof.
  intros [Ap Aq AP AQ] [Bp Bq BP BQ]; split.
  1, 2: intros o Ho; apply in_flat_map in Ho; destruct Ho as (a & Ha & Ho);
    apply in_map_iff in Ho; destruct Ho as (b & <- & Hb); apply Rmult_le_pos; auto.
  - unfold prod; rewrite sum_flat_map, <- AP; apply sum_ext; intros a Ha.
    rewrite sum_map; cbn [fst]; rewrite sum_scal, BP; ring.
  - unfold prod; rewrite sum_flat_map, <- AQ; apply sum_ext; intros a Ha.
    rewrite sum_map; cbn [snd]; rewrite sum_scal, BQ; ring.
Qed.

Lemma branch p q B t : 0 <= p -> 0 <= q -> 0 <= t ->
  (forall o, In o B -> 0 <= snd o) ->
  sum (fun o => pos (p * fst o - t * (q * snd o))) B = p * H B (t * q / p).
Proof.
  intros Hp Hq Ht HB; unfold H; rewrite <- sum_scal; apply sum_ext; intros o Ho.
  rewrite <- pos_scale by exact Hp.
  destruct (Req_dec p 0) as [->|Z].
  - rewrite 2!Rmult_0_l, (pos_0 0) by lra; apply pos_0.
    assert (0 <= t * (q * snd o)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; auto); lra.
  - f_equal; field; exact Z.
Qed.

Lemma H_prod A B t : law A -> law B -> 0 <= t -> H (prod A B) t = star (H B) A t.
Proof.
  intros [Ap Aq _ _] [_ Bq _ _] Ht; unfold H at 1, prod; rewrite sum_flat_map.
  apply sum_ext; intros a Ha; rewrite sum_map; cbn [fst snd].
  apply branch; auto.
Qed.

Lemma H_prod_comm A B t : H (prod A B) t = H (prod B A) t.
Proof.
  unfold H, prod; rewrite 2!sum_flat_map.
  transitivity (sum (fun a => sum (fun b =>
    pos (fst a * fst b - t * (snd a * snd b))) B) A).
  - apply sum_ext; intros a Ha; rewrite sum_map; reflexivity.
  - rewrite sum_swap; apply sum_ext; intros b Hb; rewrite sum_map.
    apply sum_ext; intros a Ha; cbn [fst snd]; f_equal; ring.
Qed.

(* Domination under composition, for two runs and for any list of runs. *)
Theorem prod_dominated A B A' B' : law A -> law B -> law A' -> law B' ->
  dominated A A' -> dominated B B' -> dominated (prod A B) (prod A' B').
Proof.
  intros LA LB LA' LB' DA DB t Ht.
  rewrite H_prod by (auto; lra).
  apply Rle_trans with (star (H B) A' t).
  - apply star_dominated; auto; [apply H_profile; exact LB|lra].
  - rewrite <- H_prod by (auto; lra); rewrite H_prod_comm, (H_prod_comm A').
    rewrite 2!H_prod by (auto; lra).
    apply star_dominated; auto; [apply H_profile; exact LA'|lra].
Qed.

Fixpoint prods (l : list pair) : pair :=
  match l with
  | [] => [(1, 1)]
  | A :: l' => prod A (prods l')
  end.

Lemma prods_law l : (forall A, In A l -> law A) -> law (prods l).
Proof.
  induction l as [|A l IH]; simpl; intro L.
  - split; simpl; try (intros o [<-|[]]; simpl; lra); lra.
  - apply prod_law; auto.
Qed.

Theorem prods_dominated l l' :
  (forall A, In A l -> law A) -> (forall A, In A l' -> law A) ->
  Forall2 dominated l l' -> dominated (prods l) (prods l').
Proof.
  intros L L' D; induction D as [|A B l l' DAB D IH]; simpl.
  - intros t Ht; lra.
  - simpl in L, L'.
    apply prod_dominated; auto; apply prods_law; auto.
Qed.

(* Right for t >= 1 only is not enough: these two pairs have the same profile
   there, and two runs of the first cost more. *)
Example one_sided :
  let A := [(2 / 3, 1 / 3); (1 / 3, 1 / 3); (0, 1 / 3)] in
  let B := [(2 / 3, 1 / 3); (1 / 3, 2 / 3)] in
  (forall t, 1 <= t -> H A t = H B t) /\
  H (prod A A) 1 = 5 / 9 /\ H (prod B B) 1 = 3 / 9.
Proof.
  cbv zeta; split; [|unfold H, prod; cbn [flat_map map app sum fst snd]; split].
  - intros t Ht; unfold H; cbn [sum fst snd].
    rewrite (pos_0 (1 / 3 - _)), (pos_0 (0 - _)), (pos_0 (1 / 3 - _)) by lra; ring.
  - repeat ((rewrite pos_id by lra) || (rewrite pos_0 by lra)); lra.
  - repeat ((rewrite pos_id by lra) || (rewrite pos_0 by lra)); lra.
Qed.
